import { parseArgs } from "node:util";
import { type FuzzOptions, fuzz, roundSize } from "./fuzz.ts";

/**
 * Sends generated requests over the three bindings to an agent, a gateway before it or a flow:
 * `bun test/conformance/fuzz/run-fuzz.ts --requests 100000 --subject gateway`. Prints the seed, by
 * which the same requests are made again. Exits with 1 if the server answered one of them with a
 * failure of its own, did not answer, or did not keep its memory.
 */
const { values } = parseArgs({
  options: {
    subject: { type: "string", default: "agent" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
    requests: { type: "string", default: "100000" },
  },
});
const seed = Number(values.seed);
const count = Number(values.requests);
console.log(`${count} requests to the ${values.subject}, seed ${seed}`);
const { outcomes, faults, log, memory } = await fuzz({
  subject: values.subject as FuzzOptions["subject"],
  seed,
  count,
});

for (const [outcome, times] of [...outcomes].toSorted()) console.log(`${String(times).padStart(8)} ${outcome}`);
for (const fault of faults.slice(0, 20)) console.log(fault);
if (log !== "") console.log(log.slice(0, 5_000));

/** A server warms up in its first requests: caches fill, code is compiled. */
const warm = memory[Math.floor(memory.length / 5)];
const last = memory.at(-1);
const grownMb = (last?.rss ?? 0) - (warm?.rss ?? 0);
const allowedMb = 64;
if (memory.length >= 10) {
  const figures = memory.filter(
    (_, round) => round % Math.ceil(memory.length / 10) === 0 || round === memory.length - 1,
  );
  console.log(`MB after every ${roundSize * Math.ceil(memory.length / 10)} requests, of them heap:`);
  console.log(figures.map(({ rss, heap }) => `${rss.toFixed(0)} (${heap.toFixed(0)})`).join(", "));
}
const failed = faults.length > 0 || log !== "" || (memory.length >= 10 && grownMb > allowedMb);
console.log(
  `${failed ? "MISS" : "ok  "} ${faults.length} faults, ${grownMb.toFixed(0)} MB more than when warm (at most ${allowedMb})`,
);
process.exit(failed ? 1 : 0);
