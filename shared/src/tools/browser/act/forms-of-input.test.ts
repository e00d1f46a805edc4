import { expect, test } from "bun:test";
import type { Page } from "playwright";
import { AppError } from "../../../core/errors.ts";
import type { FoundElement } from "../../observation/elements/find-element.ts";
import type { BrowserCall } from "./browser-tool.ts";
import { pageAddress, place, pointOn, ref } from "./input.ts";
import { goTo } from "./navigate.ts";
import { explainFailure } from "./perform.ts";

test("a ref may stand in the brackets it is shown in, and nothing else is one", () => {
  for (const written of ["e12", " e12 ", "[e12]", "ref=e12", "[ref=e12]"]) expect(ref.parse(written)).toBe("e12");
  for (const written of ["12", "e", "e12x", "xe12", "e1 e2", "[ref=12]", ""])
    expect(ref.safeParse(written).success).toBe(false);
});

test("an address without a scheme is opened over https, over http on the machine itself, and only these are opened", () => {
  const cases = [
    ["example.com/a?b=c:d", "https://example.com/a?b=c:d"],
    ["localhost:3000/x", "http://localhost:3000/x"],
    ["localhost.example.com/x", "https://localhost.example.com/x"],
    [" http://example.com ", "http://example.com"],
    ["HTTPS://example.com", "HTTPS://example.com"],
  ] as const;
  for (const [written, opened] of cases) expect(pageAddress.parse(written)).toBe(opened);
  for (const written of [
    "ftp://example.com",
    "mailto:ann@example.com",
    "data:text/html,x",
    "https://",
    "",
    `a.b/${"x".repeat(8_000)}`,
  ])
    expect({ written, opened: pageAddress.safeParse(written).success }).toEqual({ written, opened: false });
});

test("a place is a ref or a point, and a point of a screenshot that was scaled down is one of the window", () => {
  expect(place.parse("[e3]")).toBe("e3");
  expect(place.parse(" 12.5 , 80 ")).toEqual({ x: 12.5, y: 80 });
  for (const written of ["12", "1,2,3", "-1,2", "a,b"]) expect(place.safeParse(written).success).toBe(false);
  const page = { viewportSize: () => ({ width: 1280, height: 800 }) } as Page;
  const other = { ...page } as Page;
  const seen = (of: Page | undefined) =>
    ({ looks: { scale: of && { page: of, factor: 2 } } }) as unknown as BrowserCall;
  expect(pointOn(seen(page), page, { x: 100, y: 399 })).toEqual({ x: 200, y: 798 });
  // Another tab's screenshot says nothing about this one.
  for (const call of [seen(other), seen(undefined)])
    expect(pointOn(call, page, { x: 1279, y: 799 })).toEqual({ x: 1279, y: 799 });
  for (const [call, point] of [
    [seen(page), { x: 100, y: 400 }],
    [seen(page), { x: 640, y: 1 }],
    [seen(undefined), { x: 1280, y: 1 }],
  ] as const)
    expect(() => pointOn(call, page, point)).toThrow(
      `The point ${point.x},${point.y} is outside the window, which is 1280×800 px.`,
    );
});

/** An element of which the page says that something covers it, or nothing. */
const element = (cover = "") =>
  ({ label: 'button "Save" [e7]', handle: { evaluate: async () => cover } }) as unknown as FoundElement;

test("what the browser says about an element is explained with what to do next", async () => {
  const cases = [
    ["Element is not attached to the DOM", "conflict", "is no longer valid: it left the page meanwhile."],
    ["Execution context was destroyed", "conflict", "is no longer valid"],
    ["element is not enabled", "conflict", "is disabled."],
    ["element is not visible", "conflict", "is not visible."],
    ["element is outside of the viewport", "conflict", "cannot be scrolled into view."],
    ["element is not stable", "conflict", "does not stop moving."],
    ["Error: Element is not an <input>, <textarea> or [contenteditable]", "invalid_input", "takes no text."],
    ['Input of type "number": Cannot type text into input[type=number]', "invalid_input", "takes no text."],
    ["Element is not a <select> element", "invalid_input", "is not a dropdown of the browser."],
    ["Not a checkbox or radio button", "invalid_input", "is not a checkbox or radio button."],
    ["Malformed value", "invalid_input", "does not take this value: a date is written 2026-01-31"],
    ["did not find some options", "invalid_input", "has no such option;"],
    ["element is not editable", "conflict", "is read-only."],
  ] as const;
  for (const [said, code, text] of cases) {
    const error = (await explainFailure(new Error(said), [element()])) as AppError;
    expect({ said, code: error.code, message: error.message.slice(0, 19 + text.length) }).toEqual({
      said,
      code,
      message: `button "Save" [e7] ${text}`,
    });
  }
  const covered = async (said: string, by: string) =>
    ((await explainFailure(new Error(said), [element(by)])) as AppError).message;
  const close = "Close or move that first, or scroll.";
  expect(await covered("<p> intercepts pointer events", "a lid")).toBe(
    `button "Save" [e7] is covered by a lid. ${close}`,
  );
  expect(await covered("<p> intercepts pointer events", "")).toContain("is covered by another element.");
  expect(await covered("element is not stable", "a lid")).toContain("is covered by a lid.");
});

test("an error that is explained already, or that nobody knows, stays as it is", async () => {
  const known = new AppError("conflict", "element is not visible");
  const unknown = new Error("something else");
  const hidden = new Error("element is not visible");
  expect(await explainFailure(known, [element()])).toBe(known);
  expect(await explainFailure(unknown, [element()])).toBe(unknown);
  expect(await explainFailure(hidden, [])).toBe(hidden);
});

/** Opens an address in a page whose navigations fail in turn with these errors. */
function visit(...errors: readonly string[]) {
  const failures = [...errors];
  const page = {
    url: () => "https://a.example/",
    title: async () => "A",
    on: () => page,
    off: () => page,
    goto: async () => {
      const failure = failures.shift();
      if (failure !== undefined) throw new Error(failure);
      return { status: () => 200, headers: () => ({}), url: () => "https://a.example/" };
    },
  };
  const browsing = {
    act: (run: (of: typeof page) => Promise<void>) => run(page),
    active: () => ({ id: 1, page }),
    dialog: () => undefined,
    notices: () => [],
    loading: () => undefined,
  };
  const call = { browsing, looks: { untold: [], told: new Map() }, context: { signal: new AbortController().signal } };
  return goTo(call as unknown as BrowserCall, "https://a.example/").catch((error: unknown) => error);
}

test("an address that cannot be reached gives the reason, and a former failure does not fail the next address", async () => {
  const cases = [
    ["net::ERR_NAME_NOT_RESOLVED at x", "There is no such host. Check the address, or search for it."],
    ["net::ERR_CONNECTION_REFUSED", "The host does not answer at this address."],
    ["net::ERR_ADDRESS_UNREACHABLE", "The host does not answer at this address."],
    ["net::ERR_CONNECTION_TIMED_OUT", "The host did not answer in time."],
    ["net::ERR_CERT_DATE_INVALID", "The host's certificate is not valid."],
    ["net::ERR_SSL_PROTOCOL_ERROR", "The host's certificate is not valid."],
    ["net::ERR_TOO_MANY_REDIRECTS", "The address redirects without end."],
    ["net::ERR_TUNNEL_CONNECTION_FAILED", "The request was refused or failed on the way."],
    ["net::ERR_BLOCKED_BY_CLIENT", "The request was refused or failed on the way."],
    ["net::ERR_EMPTY_RESPONSE", "The host broke off."],
    ["net::ERR_CONNECTION_RESET", "The host broke off."],
  ] as const;
  for (const [said, message] of cases) expect(await visit(said)).toMatchObject({ code: "unavailable", message });
  expect(await visit("something else")).toEqual(new Error("something else"));
  const interrupted = 'Navigation to "x" is interrupted by another navigation to "chrome-error://chromewebdata/"';
  expect(await visit(interrupted)).toMatchObject({ text: 'The page is now / "A".' });
  expect(await visit(interrupted, "net::ERR_NAME_NOT_RESOLVED")).toMatchObject({ code: "unavailable" });
});
