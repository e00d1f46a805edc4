import { useState } from "preact/hooks";
import { complain } from "../../parts/toast.tsx";

/**
 * The acts of a form, one at a time: which is under way, and what begins one and tells its failure.
 */
export function useActs<Act extends string>() {
  const [busy, setBusy] = useState<Act | undefined>(undefined);
  const act = async (what: Act, work: () => Promise<void>) => {
    setBusy(what);
    await work().catch(complain);
    setBusy(undefined);
  };
  return { busy, act };
}
