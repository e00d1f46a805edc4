import { expect, test } from "bun:test";
import type { Frame, Page } from "playwright";
import { AppError } from "../../core/errors.ts";
import type { Browsing } from "../../machine/browser/browser.ts";
import type { SnapshotState } from "../observation/elements/snapshot-state.ts";
import { focusedPlace, placeAt, placeOfRef } from "./place-of.ts";

test("a ref that names nothing is for its tool to report; any other failure keeps the call from being made", async () => {
  const finding = (error: Error) => {
    const refs = {
      get: () => {
        throw error;
      },
    };
    return placeOfRef({} as Browsing, { refs } as unknown as SnapshotState, "e1");
  };
  expect(await finding(new AppError("not_found", "There is no element e1."))).toBeUndefined();
  await expect(finding(new Error("the page crashed"))).rejects.toThrow("the page crashed");
});

/** A frame at an address, in another, with an element in it: another frame, or one to press. */
function frameAt(url: string, parent: Frame | null, inner?: () => Frame): Frame {
  const element = {
    evaluate: async () => ({}),
    contentFrame: async () => inner?.() ?? null,
    boundingBox: async () => null,
  };
  const read = async (run: { name: string }) => (run.name === "readInset" ? { x: 0, y: 0 } : {});
  return {
    url: () => url,
    parentFrame: () => parent,
    evaluateHandle: async () => ({ asElement: () => ({ ...element, evaluate: read }) }),
  } as unknown as Frame;
}

test.each([
  ["https://inner.example/a", "inner.example"],
  ["about:srcdoc", "outer.example"],
  ["about:blank", "outer.example"],
  ["data:text/html,x", "outer.example"],
])("what is in a frame at %s is acted on at %s", async (url, host) => {
  const outer: Frame = frameAt("https://outer.example/", null, () => frameAt(url, outer));
  const page = { mainFrame: () => outer } as Page;
  for (const place of [await placeAt(page, { x: 1, y: 1 }), await focusedPlace(page)])
    expect(place?.url?.host).toBe(host);
});

test("a document without an address has none, and a frame in the fifth frame is not looked into", async () => {
  const page = (depth: number) => {
    const nest = (left: number): Frame => frameAt("about:blank", null, left === 0 ? undefined : () => nest(left - 1));
    return { mainFrame: () => nest(depth) } as Page;
  };
  expect(await placeAt(page(4), { x: 1, y: 1 })).toMatchObject({ url: undefined });
  await expect(placeAt(page(5), { x: 1, y: 1 })).rejects.toMatchObject({ code: "unsupported" });
});
