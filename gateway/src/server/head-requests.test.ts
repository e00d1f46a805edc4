import { expect, test } from "bun:test";
import type { Engine } from "manyhands/internal/core/runs/engine";
import { startGateway } from "../testing/gateway.ts";

test("a request for the head of a stream holds nothing once it is answered", async () => {
  let held = 0;
  const hold = (signal: AbortSignal) => {
    held++;
    signal.addEventListener("abort", () => held--, { once: true });
  };
  const counting = (real: Engine): Engine => ({
    ...real,
    follow(runId, options) {
      hold(options.signal);
      return real.follow(runId, options);
    },
    changes(signal) {
      hold(signal);
      return real.changes(signal);
    },
  });
  await using gateway = await startGateway({ engine: counting });
  const body = JSON.stringify({ input: "sleep" });
  const headers = { "Content-Type": "application/json" };
  const started = await fetch(`${gateway.url}/flows/echo`, { method: "POST", headers, body });
  const { id } = (await started.json()) as { id: string };
  for (const path of [`/runs/${id}/events`, `/runs/${id}/tree`, "/changes", `/a2a/echo/tasks/${id}:subscribe`]) {
    const answer = await fetch(gateway.url + path, { method: "HEAD", headers: { "A2A-Version": "1.0" } });
    expect([path, answer.status, answer.headers.get("Content-Type")]).toEqual([path, 200, "text/event-stream"]);
    for (const deadline = performance.now() + 5_000; held > 0; await Bun.sleep(5))
      expect([path, performance.now() < deadline]).toEqual([path, true]);
  }
});
