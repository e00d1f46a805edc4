import type { Run } from "../../core/run.ts";
import { type CalledOff, callOff } from "./call-off.ts";
import type { OpenAsk } from "./open-asks.ts";
import type { Peers } from "./peers.ts";

/** Cancels at the other agent what was given up here. */
export function withdraw(run: Run, ask: OpenAsk, peers: Peers): Promise<CalledOff> {
  return run.step("withdraw", ({ signal }) => callOff(ask, peers, signal));
}
