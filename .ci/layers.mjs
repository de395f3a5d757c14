// The layers of `packages/think/src`, declared once. `.ci/boundaries.mjs` turns this table into checks.
// A folder may import only folders of a lower level; folders of one level meet in `compose.ts`.

/** @type {Readonly<Record<string, number>>} Folder (or root file) of `src` to its level. */
export const levels = {
  shared: 0,

  observability: 1,
  storage: 1,
  protocol: 1,

  session: 2,
  thoughts: 2,
  stream: 2,
  workspace: 2,
  actions: 2,
  extensions: 2,
  skills: 2,

  loop: 3,
  tools: 3,

  turn: 4,

  sessions: 5,
  submissions: 5,
  recovery: 5,
  "client-tools": 5,

  executions: 6,
  "child-runs": 6,
  "agent-tools": 6,
  orchestrator: 6,
  schedule: 6,
  messengers: 6,
  transport: 6,
  inspect: 6,
  "public-types.ts": 6,

  host: 7,
  "compose-session.ts": 8,
  "compose-child-runs.ts": 8,
  "compose-turns.ts": 9,
  "compose.ts": 10,
  "think-sessions.ts": 11,
  "think-child-runs.ts": 12,
  "think.ts": 13,
  "index.ts": 14
};

/** Folders outside the levels: nobody imports them, and they import only what is listed. */
export const standalone = /** @type {Readonly<Record<string, readonly string[]>>} */ ({
  testing: ["shared", "protocol"]
});

/** The one file that defines the class, and the only files that may import it. */
export const classFile = { file: "think.ts", importedBy: ["index.ts"] };

/** Outside packages that only some places may import. */
export const reserved = [
  {
    name: "agents-only-in-host",
    packages: ["agents", "cloudflare:"],
    // These tools ask who the current agent is, or are made by the Agents SDK.
    allowed: [
      "host",
      "think.ts",
      "think-sessions.ts",
      "testing",
      // What authors put on their own agent: an RPC target, and the registry of their children.
      "orchestrator/tool-bridge.ts",
      "orchestrator/agent-registry.ts",
      "tools/browser",
      "tools/execute/browser-namespace.ts",
      "tools/think/create-think-tool.ts"
    ],
    typesAllowed: false,
    why: "Only host/, think.ts and testing/ know the Agent class and the platform: declare a small interface in the module and let host/ implement it."
  },
  {
    name: "ai-only-in-loop",
    packages: ["ai"],
    allowed: ["loop", "tools", "testing", "public-types.ts"],
    typesAllowed: true,
    why: "Only loop/ calls the AI SDK and only tools/ builds tools for it, so that few files know its majors: use `import type`, or move the call there."
  }
];

/** Everything the repository's top level may hold, besides dot-files and `node_modules`. */
export const topLevel = [
  "packages",
  "examples",
  "docs",
  "design",
  "pnpm-workspace.yaml",
  "pnpm-lock.yaml",
  "package.json",
  "tsconfig.base.json",
  "vitest.workspace.ts",
  "README.md",
  "LICENSE",
  "AGENTS.md"
];
