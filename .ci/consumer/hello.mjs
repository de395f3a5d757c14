// Says hello to the running app over a WebSocket. Copied into the consumer app, so that the import resolves there.
import { connectChat } from "@cloudflare/think/testing";

const client = await connectChat(process.argv[2], { agent: "MyAgent", name: "ada", timeout: 30_000 });
const { text, error } = await client.chat("Hello").done;
await client.close();
console.log(error ?? text);
