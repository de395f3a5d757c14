/** `@cloudflare/think`: the chat agent base class. */
export { Think } from "./think";
export { ThinkError, type ThinkErrorCode } from "./shared/errors/think-error";
export type { ClientToolSchema } from "./protocol/frames";
