/** A small MCP server in a Durable Object, reached over RPC: no network, and no SDK whose version could differ. */
import { Agent } from "agents";

interface RpcMessage {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: Record<string, unknown>;
}

const echo = {
  name: "echo",
  description: "Says it again.",
  inputSchema: { type: "object", properties: { said: { type: "string" } }, required: ["said"] }
};

export class LoopMcpServer extends Agent {
  /** What the transport of the `agents` package calls. */
  async handleMcpMessage(message: RpcMessage): Promise<unknown> {
    if (message.id === undefined) return undefined;
    const result = answerTo(message);
    const outcome = result
      ? { result }
      : { error: { code: -32_601, message: `No method ${message.method}` } };
    return { jsonrpc: "2.0", id: message.id, ...outcome };
  }
}

function answerTo({ method, params }: RpcMessage): Record<string, unknown> | undefined {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "echo", version: "1.0.0" }
      };
    case "tools/list":
      return { tools: [echo] };
    case "tools/call": {
      const input = params?.arguments as { readonly said: string } | undefined;
      return { content: [{ type: "text", text: `You said: ${input?.said}` }] };
    }
    default:
      return undefined;
  }
}
