import { expect, test } from "bun:test";
import type { OpenView, SeenObservation, TaskMessage } from "../task/agent-state.ts";
import { foldViews, keepViews, lastSeen, withViews } from "./views.ts";

const words = (count: number) => "word ".repeat(count);
const seen = (name: string, more: Partial<SeenObservation> = {}): SeenObservation => ({
  role: "observation",
  text: `${name} ${words(500)}`,
  ...more,
});
const file = { name: "x", mediaType: "image/png", sha256: "0", size: 1 } as const;
const picture = (name: string) =>
  ({ role: "tool", callId: name, name: "see", text: name, isError: false, images: [file] }) as const;
const said = (text: string): TaskMessage => ({ role: "user", parts: [{ type: "text", text }] });

/**
 * What a conversation of these views, each with its turn, looks like once it is folded before
 * `next`.
 */
function folded(shown: readonly (readonly [OpenView["message"], number])[], turn: number, next?: SeenObservation) {
  const messages: TaskMessage[] = shown.map(([message]) => message);
  const open = shown.map(([message, turn]): OpenView => ({ message, turn }));
  const found = foldViews({ messages, views: { open, weighed: 0 }, turn, measured: sent(messages) }, next);
  return {
    ...found,
    texts: found.messages.map((message) => ("text" in message ? message.text.slice(0, 40).trim() : "")),
  };
}
const sent = (messages: readonly TaskMessage[]) => ({ tokens: 0, messages: messages.length });
const isOpen = ({ views }: ReturnType<typeof folded>) => views.open.length;

test("a page is folded to its brief once a later one is whole, and one that continues it keeps it", () => {
  const [first, second] = [seen("A", { brief: "BRIEF A", mark: "1" }), seen("B", { brief: "BRIEF B", mark: "2" })];
  expect(folded([[first, 1]], 1, second).texts).toEqual(["BRIEF A"]);
  expect(folded([[first, 1]], 1, seen("B", { since: "1" })).texts[0]).toStartWith("A word");
  const two = folded(
    [
      [first, 1],
      [second, 2],
    ],
    2,
  );
  expect(two.texts.map((text) => text.slice(0, 7))).toEqual(["BRIEF A", "B word "]);
  expect([isOpen(two), two.saved > 400]).toEqual([1, true]);
});

test("a page is not out of date for what continues it, for a result after it or for nothing", () => {
  const page = seen("A", { brief: "BRIEF A", mark: "1" });
  const change = seen("B", { mark: "2", since: "1" });
  const later: readonly (readonly [OpenView["message"], number][])[] = [[], [[change, 2]], [[picture("p"), 2]]];
  for (const views of later) expect(folded([[page, 1], ...views], 2).texts[0]).toStartWith("A word");
  expect(
    folded(
      [
        [page, 1],
        [change, 2],
        [seen("C"), 3],
      ],
      3,
    ).texts.slice(0, 2),
  ).toEqual(["BRIEF A", ""]);
});

test("a brief that the conversation has already is not told again, and a view without one leaves nothing", () => {
  const same = { brief: "SAME" };
  const three = folded(
    [
      [seen("A", same), 1],
      [seen("B", same), 2],
      [seen("C"), 3],
    ],
    3,
    seen("D"),
  );
  expect(three.texts).toEqual(["SAME", "", ""]);
  const known = seen("A", { text: "KNOWN" });
  const again = folded(
    [
      [known, 1],
      [seen("B", { brief: "KNOWN" }), 2],
      [seen("C"), 3],
    ],
    3,
  );
  expect(again.texts[1]).toBe("");
});

test("the images of a turn are shown until a later one has some or five have passed, and their results say that they are gone", () => {
  const gone = "a\n[The image is no longer shown.]";
  expect(folded([[picture("a"), 1]], 6).messages).toEqual([picture("a")]);
  const { images: _, ...bare } = picture("a");
  expect(folded([[picture("a"), 1]], 7).messages).toEqual([{ ...bare, text: gone }]);
  const three = folded(
    [
      [picture("a"), 1],
      [picture("b"), 1],
      [picture("c"), 2],
    ],
    2,
  );
  expect([three.texts, isOpen(three)]).toEqual([[gone, gone.replace("a", "b"), "c"], 1]);
  const together = folded(
    [
      [picture("a"), 1],
      [picture("b"), 1],
    ],
    1,
  );
  expect([together.texts, isOpen(together)]).toEqual([["a", "b"], 2]);
});

const result = (text: string, shows?: { of: string; whole?: string; brief?: string }) =>
  ({ role: "tool", callId: text, name: "read", text, isError: false, ...(shows && { shows }) }) as const;
const kept = (length: number) => `${"x".repeat(length)}[whole output, 9 bytes: .manyhands/output/a.txt]`;

test("a long output is shortened after twelve turns, also those of earlier tasks, and a short one never", () => {
  expect(folded([[result(kept(3_000)), 1]], 13).texts[0]).toStartWith("xxx");
  const [after] = folded([[result(kept(3_000)), 1]], 14).messages;
  const text = after?.role === "tool" ? after.text : "";
  expect([text.length < 1_600, text.includes("; the whole is in .manyhands/output/a.txt]")]).toEqual([true, true]);
  expect(folded([[result(kept(1_400)), 1]], 99).messages).toEqual([result(kept(1_400))]);
  const turn: TaskMessage = { role: "assistant", text: "", toolCalls: [] };
  expect(withViews([turn, result(kept(1)), said("more"), turn, turn])).toMatchObject({
    messages: { length: 5 },
    views: { open: [{ turn: -2 }], weighed: 0 },
  });
});

test("a result that shows a file is folded to its brief once a later one of that file has all of it", () => {
  const file = (text: string, of: string, whole?: string) =>
    result(`${text} ${words(500)}`, { of, brief: `BRIEF ${text}`, ...(whole && { whole }) });
  const texts = (...shown: readonly OpenView["message"][]) =>
    folded(
      shown.map((message, at) => [message, at]),
      shown.length,
    ).texts.map((text) => text.slice(0, 7));
  expect(texts(file("A", "a", "1"), file("B", "b", "1"), file("C", "a"))).toEqual(["A word ", "B word ", "C word "]);
  expect(texts(file("B", "b"), file("A", "a"), file("C", "a", "1"))).toEqual(["B word ", "BRIEF A", "C word "]);
  expect(texts(file("A", "a", "1"), file("B", "b", "1"), file("C", "b", "2"))).toEqual([
    "A word ",
    "BRIEF B",
    "C word ",
  ]);
});

test("views are folded only where that saves half of what comes after them, and are weighed again when more are stale", () => {
  const [small, late] = [seen("A", { text: words(50) }), said(words(2_000))];
  const messages: TaskMessage[] = [small, late];
  const views = { open: [{ message: small, turn: 1 }], weighed: 0 };
  const kept = foldViews({ messages, views, turn: 1, measured: sent(messages) }, seen("B"));
  expect(kept).toEqual({ messages, saved: 0, views: { open: views.open, weighed: 1 } });
  const unsent = foldViews({ messages, views, turn: 1, measured: sent([]) }, seen("B"));
  expect([unsent.views.open, unsent.saved > 0]).toEqual([[], true]);
  const large = seen("C", { text: words(4_000) });
  const more = { open: [...views.open, { message: large, turn: 2 }], weighed: 1 };
  const all = [...messages, large];
  const both = foldViews({ messages: all, views: more, turn: 2, measured: sent(all) }, seen("D"));
  expect(both.views).toEqual({ open: [], weighed: 0 });
  expect(both.messages[1]).toBe(late);
});

test("what was seen last may be continued while the whole of it is there", () => {
  const open = (...messages: SeenObservation[]) => ({
    open: messages.map((message) => ({ message, turn: 1 })),
    weighed: 0,
  });
  const [whole, change] = [seen("A", { mark: "1" }), seen("B", { text: "b", mark: "2", since: "1" })];
  expect(lastSeen(open())).toEqual({ text: undefined, mark: undefined });
  expect(lastSeen(open(whole)).mark).toBe("1");
  expect(lastSeen(open(whole, change))).toEqual({ text: "b", mark: "2" });
  expect(lastSeen(open(change)).mark).toBeUndefined();
  expect(lastSeen(open(whole, seen("C", { text: "failed" }))).mark).toBe("1");
  const views = { ...open(whole, change), weighed: 1 };
  keepViews({ views, messages: [change] } as unknown as Parameters<typeof keepViews>[0]);
  expect(views).toEqual({ open: [{ message: change, turn: 1 }], weighed: 0 });
});
