import { useCallback, useEffect, useState } from "preact/hooks";
import { get, ProblemError } from "../../api/client.ts";

/** What a page shows of a path of the API, and how it loads it again. */
export type Loaded<Value> = {
  readonly value: Value | undefined;
  readonly error: Error | undefined;
  readonly isRefused: boolean;
  reload(): Promise<void>;
  put(value: Value): void;
};

/** Loads a path when the component is first shown. */
export function useLoaded<Value>(path: string): Loaded<Value> {
  const [value, put] = useState<Value | undefined>(undefined);
  const [error, setError] = useState<Error | undefined>(undefined);
  const reload = useCallback(async () => {
    try {
      put(await get<Value>(path));
      setError(undefined);
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  }, [path]);
  useEffect(() => void reload(), [reload]);
  return { value, error, isRefused: error instanceof ProblemError && error.status === 403, reload, put };
}
