const againMs = 100;

/**
 * Reads a run's events to the last one at one replica, from where it was whenever the connection
 * breaks. Returns each as its number and its text. Rejects if one comes out of turn.
 */
export async function readEvents(run: string, signal: AbortSignal): Promise<readonly string[]> {
  const seen: string[] = [];
  for (;;) {
    signal.throwIfAborted();
    try {
      const headers = { "Last-Event-ID": String(seen.length) };
      const response = await fetch(`${run}/events`, { headers, signal });
      if (response.ok && response.body !== null && (await readOn(response.body, seen))) return seen;
    } catch (error) {
      if (error instanceof OutOfTurn) throw error;
    }
    await Bun.sleep(againMs);
  }
}

class OutOfTurn extends Error {}

/** Appends what comes; true once the last one has. */
async function readOn(body: ReadableStream<Uint8Array>, seen: string[]): Promise<boolean> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    const frames = (text + decoder.decode(chunk, { stream: true })).split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const id = /^id: (\d+)$/m.exec(frame)?.[1];
      // What is live only has no number.
      if (id === undefined) continue;
      const data = /^data: (.*)$/m.exec(frame)?.[1] ?? "";
      if (Number(id) !== seen.length + 1) throw new OutOfTurn(`After event ${seen.length} came event ${id}: ${data}`);
      seen.push(data);
      if (JSON.parse(data).event.type === "run-ended") return true;
    }
  }
  return false;
}
