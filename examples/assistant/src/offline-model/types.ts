/** What the offline model of this example understands. */

/** What the person asked for, after parsing. Paths are absolute. */
export type Intent =
  | { readonly kind: "list"; readonly path: string }
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "write"; readonly path: string; readonly content: string; readonly readBack: boolean }
  | { readonly kind: "replace"; readonly path: string; readonly from: string; readonly to: string }
  | { readonly kind: "find"; readonly pattern: string }
  | { readonly kind: "search"; readonly query: string; readonly include: string | undefined }
  | { readonly kind: "run"; readonly script: string }
  | { readonly kind: "delete"; readonly path: string; readonly recursive: boolean }
  | { readonly kind: "think"; readonly topic: string }
  | { readonly kind: "story" }
  | { readonly kind: "fail" }
  | { readonly kind: "help" }
  | { readonly kind: "greeting" }
  | { readonly kind: "thanks" }
  | { readonly kind: "identity" }
  | { readonly kind: "other" };
