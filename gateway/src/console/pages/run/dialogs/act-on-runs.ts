import { runPath } from "../../../api/catalog.ts";
import { request } from "../../../api/client.ts";
import { safeText } from "../../../words/format.ts";

/** How long a made address of a download is kept. */
const keptMs = 60_000;

/** Saves a file: its content comes by script, because links do not carry the token. */
export function save(content: Blob, name: string): void {
  const href = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = href;
  link.download = safeText(name);
  link.click();
  setTimeout(() => URL.revokeObjectURL(href), keptMs);
}

/** Saves the events of a run and of those it asked for. */
export async function exportRun(id: string): Promise<void> {
  const response = await request(`${runPath(id)}/export`);
  save(await response.blob(), `run-${id}.jsonl`);
}
