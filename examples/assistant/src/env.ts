/** The Worker's bindings and variables. Only the Durable Object is always there. */
export interface Env {
  readonly Assistant: DurableObjectNamespace;
  /** Workers AI, when bound in `wrangler.jsonc`. */
  readonly AI?: Ai;
  /** Workers AI model id. Default: `@cf/moonshotai/kimi-k2.5`. */
  readonly WORKERS_AI_MODEL?: string;
  /** Address of an OpenAI-compatible endpoint, ending in `/v1` as a rule. */
  readonly OPENAI_BASE_URL?: string;
  readonly OPENAI_API_KEY?: string;
  /** Model id at that endpoint. Default: `gpt-5-mini`. */
  readonly OPENAI_MODEL?: string;
}
