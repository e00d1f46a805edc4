import { expect, test } from "bun:test";
import { fuzz } from "./fuzz.ts";

const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000_000);

test.each(["agent", "gateway"] as const)(
  "whatever is sent to the %s over any binding, it answers, and never with a failure of its own",
  async (subject) => {
    const { outcomes, faults, log } = await fuzz({ subject, seed, count: 1_000 });
    expect({ faults, log }, `FUZZ_SEED=${seed}`).toEqual({ faults: [], log: "" });
    // What never gets past the door shows nothing.
    const of = (outcome: string) => outcomes.get(outcome) ?? 0;
    for (const accepted of ["JSON-RPC: 200", "HTTP+JSON: 200", "gRPC: OK"])
      expect([accepted, of(accepted) > 30]).toEqual([accepted, true]);
  },
  400_000,
);
