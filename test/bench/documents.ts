import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWorkspace } from "manyhands/internal/machine/workspace/open-workspace";
import { extractDocument } from "manyhands/internal/tools/documents/extract-document";
import { readDocument } from "manyhands/internal/tools/documents/read-document";
import { longPdf, longWorkbook } from "./long-documents.ts";

/**
 * What reading documents costs: all pages of a PDF of 300 in one reading, as `web_fetch` does, and
 * by `read_document` its last ones; and a workbook of 50 MB, from its beginning and from its end.
 * Beside each time stand the processor's time and the largest memory of the process that reads. On
 * a machine that others use too, the processor's time counts. Run it with
 * `bun test/bench/documents.ts`; it exits with 1 if a target is missed.
 */
const folder = mkdtempSync(join(tmpdir(), "bench-"));
const workspace = await openWorkspace({ home: folder, principal: "bench", contextId: "1" });
const rows = 560_000;
await Bun.write(join(workspace.root, "long.pdf"), longPdf(300));
await Bun.write(join(workspace.root, "long.xlsx"), await longWorkbook(rows));
const megabytes = Bun.file(join(workspace.root, "long.xlsx")).size / 2 ** 20;

const context = {
  signal: AbortSignal.timeout(600_000),
  workspace,
  key: "bench",
  resultCharacters: 101_000,
  progress: () => undefined,
  ask: async () => "",
  fetch: () => Promise.reject(new Error("no web")),
};

/** The processor's seconds and the largest memory in MB of the process that reads, so far. */
function costOfReader(): { readonly cpu: number; readonly mb: number } {
  for (const id of readdirSync("/proc")) {
    try {
      const status = readFileSync(`/proc/${Number(id)}/status`, "utf8");
      if (!status.includes(`PPid:\t${process.pid}\n`)) continue;
      const [user = 0, system = 0] = (readFileSync(`/proc/${id}/stat`, "utf8").split(") ")[1] ?? "")
        .split(" ")
        .slice(11, 13)
        .map(Number);
      return { cpu: (user + system) / 100, mb: Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024 };
    } catch {}
  }
  return { cpu: 0, mb: 0 };
}

/** Runs a reading whose text has to contain `wanted`. */
async function measured(read: () => Promise<{ readonly text: string }>, wanted: string) {
  let [cpu, mb] = [0, 0];
  const timer = setInterval(() => {
    const cost = costOfReader();
    [cpu, mb] = [Math.max(cpu, cost.cpu), Math.max(mb, cost.mb)];
  }, 20);
  const begun = performance.now();
  const { text } = await read();
  const seconds = (performance.now() - begun) / 1000;
  clearInterval(timer);
  if (!text.includes(wanted)) throw new Error(`${wanted} was not read: ${text.slice(0, 500)}`);
  return { seconds, cpu, mb };
}

const viaTool = (path: string, part: string | null) => () =>
  readDocument.call({ path, part, from: null, max_characters: 100_000 }, context);
const whole = { name: "long.pdf", from: 0, characters: 5_000_000, scans: "name" } as const;
const inOne = () => extractDocument(Bun.file(join(workspace.root, "long.pdf")), whole, context.signal);

const all = await measured(inOne, "[page 300]");
const last = await measured(viaTool("long.pdf", "290-"), "[page 300]");
const top = await measured(viaTool("long.xlsx", null), "| 1 |");
const end = await measured(viaTool("long.xlsx", `A${rows - 50}:J${rows}`), `| ${rows} |`);
rmSync(folder, { recursive: true, force: true });

const figures = [
  { name: "all of a PDF of 300 pages", ...all, most: 5, maxMb: 500 },
  { name: "its last ten pages", ...last, most: 5, maxMb: 500 },
  { name: `the beginning of a workbook of ${megabytes.toFixed(0)} MB`, ...top, most: 5, maxMb: 1_400 },
  { name: `the last of its ${rows} rows`, ...end, most: 15, maxMb: 1_400 },
];
const isFine = ({ seconds, cpu, most, mb, maxMb }: (typeof figures)[number]) =>
  Math.min(seconds, cpu) <= most && mb <= maxMb;
for (const figure of figures) {
  const { name, seconds, cpu, most, mb, maxMb } = figure;
  const time = `${seconds.toFixed(1)} s, ${cpu.toFixed(1)} s of the processor (at most ${most})`;
  console.log(`${isFine(figure) ? "ok  " : "MISS"} ${name}: ${time}, ${mb.toFixed(0)} MB (at most ${maxMb})`);
}
process.exit(figures.every(isFine) ? 0 : 1);
