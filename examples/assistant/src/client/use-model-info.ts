/** Asks the server once which model answers. Undefined until it is known. */
import { useEffect, useState } from "react";
import { isModelInfo, type ModelInfo } from "../shared/model-info";

export function useModelInfo(): ModelInfo | undefined {
  const [info, setInfo] = useState<ModelInfo>();
  useEffect(() => {
    const controller = new AbortController();
    void fetchModelInfo(controller.signal).then(setInfo);
    return () => controller.abort();
  }, []);
  return info;
}

async function fetchModelInfo(signal: AbortSignal): Promise<ModelInfo | undefined> {
  try {
    const response = await fetch("/api/model", { signal });
    const body: unknown = await response.json();
    return isModelInfo(body) ? body : undefined;
  } catch {
    // The chat works without the label, and its own connection reports a server that is away.
    return undefined;
  }
}
