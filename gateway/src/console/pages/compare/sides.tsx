import { words } from "../../words/words.ts";
import type { RunPageStore } from "../run/run-store.ts";

/** The two runs that are compared. */
export type Stores = { readonly a: RunPageStore; readonly b: RunPageStore };

/** Says in a word that two sides differ. */
export function Differs() {
  return <span class="differs-mark">{words().find.differs}</span>;
}
