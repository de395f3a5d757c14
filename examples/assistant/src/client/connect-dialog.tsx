/** How to connect a real model, on the page itself: someone without a network must be able to read it. */
import { CodeBlock, Dialog, type DialogHandle } from "@cloudflare/think-example-kit/page";
import type { Ref } from "react";

const DEV_VARS = `OPENAI_BASE_URL=http://localhost:11434/v1
OPENAI_API_KEY=ollama
OPENAI_MODEL=qwen3:8b`;

const WRANGLER = `"ai": { "binding": "AI", "remote": true }`;

export function ConnectDialog({ ref }: { readonly ref: Ref<DialogHandle> }) {
  return (
    <Dialog ref={ref} label="Connect a model">
      <h2>Connect a model</h2>
      <p>
        You are talking to the <strong>offline model</strong>: a few rules that ship with this example. It
        needs no key and no network, and its tools are real, but it cannot answer freely.
      </p>
      <h3>Any OpenAI-compatible endpoint</h3>
      <p>
        Ollama on your machine, or a provider with a key. Put this in{" "}
        <code>examples/assistant/.dev.vars</code> and start again:
      </p>
      <CodeBlock text={DEV_VARS} />
      <h3>Workers AI</h3>
      <p>
        With a Cloudflare account, add this line to <code>wrangler.jsonc</code>, log in with{" "}
        <code>wrangler login</code> and start again:
      </p>
      <CodeBlock text={WRANGLER} />
    </Dialog>
  );
}
