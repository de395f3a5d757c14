/** How an agent configures the eviction of aged media, and what the defaults are. */
import { MESSAGE_LIMITS } from "../shared/limits";

/** How aged media is treated. */
export interface MediaEvictionConfig {
  /** Newest messages whose media stays in place. Default: 8; at least 4. */
  readonly keepRecentMessages?: number;
  /** Smallest string that is evicted, in characters. Default: 32,768. */
  readonly minPartBytes?: number;
  /** Whether the originals are kept as workspace files. Default: true. */
  readonly externalizeToWorkspace?: boolean;
  /** Most messages looked at in one pass. Default: 64. */
  readonly maxRowsPerPass?: number;
}

/** `true`: on, with defaults; `false`: off. */
export type MediaEvictionSetting = boolean | MediaEvictionConfig;

export interface MediaSettings {
  readonly keep: number;
  readonly minPartBytes: number;
  readonly externalize: boolean;
  readonly maxRows: number;
}

/** The settings in force, or undefined when eviction is off. */
export function mediaSettings(setting: MediaEvictionSetting): MediaSettings | undefined {
  if (setting === false) return undefined;
  const config = setting === true ? {} : setting;
  return {
    keep: atLeast(MESSAGE_LIMITS.mediaKeepFloor, config.keepRecentMessages, MESSAGE_LIMITS.mediaKeepRecent),
    minPartBytes: atLeast(1, config.minPartBytes, MESSAGE_LIMITS.mediaPartBytes),
    externalize: config.externalizeToWorkspace ?? true,
    maxRows: atLeast(1, config.maxRowsPerPass, MESSAGE_LIMITS.mediaRowsPerPass)
  };
}

function atLeast(floor: number, value: number | undefined, standard: number): number {
  return value === undefined || !Number.isFinite(value) ? standard : Math.max(floor, Math.floor(value));
}
