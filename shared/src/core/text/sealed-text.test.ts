import { expect, test } from "bun:test";
import { textInMemory } from "../../testing/durable/text-in-memory.ts";
import { madeOnce } from "./kept-text.ts";
import { type SealedTextOptions, sealedText } from "./sealed-text.ts";

const key = (byte: number) => new Uint8Array(32).fill(byte);
const options = { keys: () => [key(1)], encoding: "base64" } as const satisfies SealedTextOptions;

test.each(["base64", "latin1"] as const)("a text is stored sealed and comes back whole, as %s", async (encoding) => {
  const kept = textInMemory();
  const sealed = sealedText(kept, { ...options, encoding });
  expect(await sealed.read()).toBeUndefined();
  await sealed.change((now) => `${now} grüße 𝄞`);
  await sealed.change((now) => `${now}!`);
  expect(await sealed.read()).toBe("undefined grüße 𝄞!");
  expect(kept.body).not.toContain("gr");
});

test("the same text is never sealed in the same form twice, and its lock is that of the text it lies in", async () => {
  const kept = textInMemory();
  const alone: string[] = [];
  const locked = {
    ...kept,
    alone<T>(name: string, work: () => Promise<T>) {
      alone.push(name);
      return work();
    },
  };
  const sealed = sealedText(locked, options);
  const forms: string[] = [];
  for (let n = 0; n < 2; n++) {
    await sealed.change(() => "secret");
    forms.push((await kept.read()) ?? "");
  }
  expect(forms[0]?.slice(0, 16)).not.toBe(forms[1]?.slice(0, 16) as string);
  expect(await sealed.alone("one", async () => "done")).toBe("done");
  expect(alone).toEqual(["one"]);
});

test("the first key seals, and each of the others opens", async () => {
  const kept = textInMemory();
  await sealedText(kept, { ...options, keys: () => [key(3)] }).change(() => "old");
  const renewed = sealedText(kept, { ...options, keys: () => [key(1), key(2), key(3)] });
  expect(await renewed.read()).toBe("old");
  await renewed.change((now) => `${now} and new`);
  expect(await sealedText(kept, options).read()).toBe("old and new");
});

test("another key, another purpose or a changed text opens nothing, and nothing is written over it", async () => {
  const kept = textInMemory();
  const ours = sealedText(kept, { ...options, purpose: "tokens" });
  await ours.change(() => "secret");
  expect(await ours.read()).toBe("secret");
  const before = kept.body ?? "";
  const unopened = (cause: unknown) => new Error("not ours", { cause });
  for (const other of [
    { ...options, purpose: "settings" },
    options,
    { ...options, purpose: "tokens", keys: () => [key(9), key(8)] as const },
  ]) {
    expect(sealedText(kept, { ...other, unopened }).read()).rejects.toThrow("not ours");
    expect(sealedText(kept, other).change(() => "mine now")).rejects.toThrow();
  }
  expect(kept.body).toBe(before);
  const bytes = Buffer.from(before, "base64");
  bytes[14] = (bytes[14] ?? 0) ^ 1;
  kept.body = bytes.toString("base64");
  expect(ours.read()).rejects.toThrow();
});

test("of several who make a text once, the first one's stays", async () => {
  const kept = textInMemory();
  const [one, other] = await Promise.all([madeOnce(kept, () => "one"), madeOnce(kept, () => "other")]);
  expect([one, other, kept.body]).toEqual(["one", "one", "one"]);
});
