/** The tools that every agent has, in the order in which the model is told of them (tools.md §1.2, §1.5). */
export const WORKSPACE_TOOLS = ["read", "write", "edit", "list", "find", "grep", "delete", "bash"] as const;
