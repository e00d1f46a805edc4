import { describe, expect, test } from "bun:test";
import type { Json } from "../../core/json.ts";
import { type Cases, request, start, until } from "./cases.ts";

const file = (letter: string) => ({ sha256: letter.repeat(64), name: "f", mediaType: "text/plain", size: 1 });
const sha = (letter: string) => letter.repeat(64);

/** What belongs to the principal of a run, and to nobody else. */
export function owningCases(cases: Cases): void {
  describe("owning", () => {
    test("a file is its principal's from the event that refers to it, whoever appends that", async () => {
      const engine = cases.working(async (run) => {
        await run.signal("go");
        run.emit({ type: "artifact-added", artifactId: "a", name: "a", parts: [{ type: "file", ...file("b") }] });
        await run.step("s", async (step) => {
          step.emit({ type: "tool-ended", callId: "1", name: "t", text: "", images: [file("c")] });
          step.emit({ type: "agent-answered", askId: "1", agent: "x", state: "completed", files: [file("d")] });
          return null;
        });
        return null;
      });
      const received = { type: "message-received", messageId: "m", parts: [{ type: "file", ...file("a") }] };
      const run = await start(engine, { events: [received] });
      const held = (principal: string) =>
        Promise.all([..."abcde"].map((letter) => engine.hasFile(principal, sha(letter))));
      expect(await held("ann")).toEqual([true, false, false, false, false]);
      const late = { ...received, parts: [{ type: "file", ...file("e") }] };
      await engine.deliver(run.id, "go", null, { events: [late] });
      await until(engine, run.id, "completed");
      expect(await held("ann")).toEqual([true, true, true, true, true]);
      expect(await held("bob")).toEqual([false, false, false, false, false]);
      expect(await cases.open().hasFile("ann", sha("d"))).toBe(true);
    });

    test("a hash that is only written somewhere in an event is nobody's file", async () => {
      const engine = cases.open();
      const data = { sha256: sha("a"), files: [file("a")], parts: [{ type: "file", ...file("a") }] } satisfies Json;
      const parts = [
        { type: "data", data },
        { type: "text", text: JSON.stringify(data) },
      ];
      const events = [
        { type: "message-received", messageId: "m", parts, metadata: data },
        { type: "flow-told", note: "n", data },
      ];
      await start(engine, { events });
      expect(await engine.hasFile("ann", sha("a"))).toBe(false);
    });

    test("a run that is asked for in a principal's name is found for that principal alone", async () => {
      const engine = cases.open();
      const { id } = await start(engine, { input: "x".repeat(100_000) });
      expect((await engine.get(id, "ann"))?.id).toBe(id);
      expect(await engine.get(id, "bob")).toBeUndefined();
      expect(await engine.get(crypto.randomUUID(), "ann")).toBeUndefined();
    });

    test("whether another principal's run exists shows in nobody's list", async () => {
      const engine = cases.open();
      const { run: anns } = await engine.start(request);
      const key = (id: string) => ({ key: JSON.stringify(["test", "bob", `${id}/1`]), hash: "" });
      for (const id of [anns.id, crypto.randomUUID()])
        await engine.start({ ...request, principal: "bob", dedupe: key(id) });
      expect((await engine.list({ principal: "bob", asked: false, limit: 9 })).total).toBe(2);
    });
  });
}
