export { createPlannedModel, type PlannedModelOptions } from "./model";
export { readSituation } from "./situation";
export { PAUSE, pauseFor, splitWords } from "./streamer";
export type {
  CallOptions,
  LanguageModelV3,
  Pace,
  Plan,
  Prompt,
  Situation,
  StreamPart,
  ToolCall,
  ToolResult,
  Utterance
} from "./types";
