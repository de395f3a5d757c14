import { workersProject } from "../think/test/workers-project.ts";

/** These never reach the AI SDK: shells, files and tables are the same on every major. The last is about what only version 7 does. */
const without = [
  "tools-in-workerd",
  "execute-packages",
  "query-plans",
  "session-migrations",
  "session-provider",
  "session-transfer",
  "sub-agent-slow-caller"
];

export default workersProject({ name: "workers-ai6", root: import.meta.dirname, without });
