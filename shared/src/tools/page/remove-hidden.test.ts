import { expect, test } from "bun:test";
import { parseHTML } from "linkedom";
import { removeHidden } from "./remove-hidden.ts";

/** What of a page is left, its style sheets aside. */
function left(body: string, sheet = ""): string {
  const { document } = parseHTML(`<html><head><style>${sheet}</style></head><body>${body}</body></html>`);
  removeHidden(document as never);
  return document.body?.textContent ?? "no body";
}

const hiding = [
  "display: none",
  "DISPLAY: NONE",
  "display: none !important",
  "display: none ! important",
  "display: none !/**/IMPORTANT",
  "display:none!IMPORTANT",
  "display /* x */ : none",
  "/* a /* b */ display: none; /*/ c */ color: red",
  "display: block; display: none",
  "visibility: hidden",
  "visibility: collapse",
  "opacity: 0",
  "opacity: 0.04",
  "font-size: 0",
  "font-size: 0em",
  "font-size: 1px",
  "font-size: 0.5px",
  "text-indent: -900px",
  "text-indent: 9000px",
  "margin-left: -999px",
  "left: -9999px",
  "right: -9999px",
  "top: -9999px",
  "bottom: 10000px",
  "width: 1px; overflow: hidden",
  "width: 0; overflow-x: clip",
  "height: 1px; overflow: hidden",
  "height: 0; overflow-y: hidden",
  "max-height: 0; overflow: hidden",
  "clip: rect(0, 0, 0, 0)",
  "clip: rect(1px 1px 1px 1px)",
  "clip-path: inset(50%)",
  "clip-path: inset(100%)",
  "clip-path: circle(0)",
  "transform: scale(0)",
  "transform: scaleX(0)",
  "transform: scaley(0, 1)",
  "transform: translate(-9999px, 0)",
  "transform: translateY(-9999px)",
  "transform: translate(0, 9999px)",
  "color: transparent",
  "color: white; background-color: white",
  "color: #fff; background: #fff",
];

test.each(hiding)("words with `%s` are not read, inline or by a style sheet", (style) => {
  expect(left(`<p>seen</p><p style="${style}">unseen</p>`)).toBe("seen");
  expect(left('<p>seen</p><p class="x">unseen</p>', `.x { ${style} }`)).toBe("seen");
});

test.each([
  "display: block",
  "display: none; display: block",
  "display: none; display: block !important",
  "--display: none",
  "visibility: visible",
  "opacity: 0.05",
  "font-size: 2px",
  "font-size: 10px",
  "text-indent: -899px",
  "text-indent: 8999px",
  "left: -100px",
  "width: 1px",
  "width: 1px; overflow-y: hidden",
  "width: 10px; overflow: hidden",
  "height: 1px; overflow-x: hidden",
  "clip: rect(0, 10px, 10px, 0)",
  "clip-path: inset(10%)",
  "transform: scale(0.5)",
  "transform: translate(-50%, 10px)",
  "color: black; background-color: white",
  "color: transparent; background-clip: text",
])("words with `%s` are read", (style) => {
  expect(left(`<p style="${style}">seen</p>`)).toBe("seen");
  expect(left('<p class="x">seen</p>', `.x { ${style} }`)).toBe("seen");
});

test("an inline declaration that is important counts, whatever comes after it", () => {
  expect(left('<p style="display: none !important; display: block">unseen</p>')).toBe("");
  expect(left('<p style="display: block !important; display: none">seen</p>')).toBe("seen");
  expect(left('<p style="display: block !important; display: none !important">unseen</p>')).toBe("");
  expect(left('<p style="display: none /* without end; display: block">unseen</p>')).toBe("");
});

test.each([
  ["spaces", `color:${" ".repeat(200_000)}x`],
  ["comments", "/*".repeat(200_000)],
  ["marks", "color: red !".repeat(100_000)],
])("a declaration of endless %s does not hold up reading", (_, style) => {
  const begun = performance.now();
  expect(left(`<p style="${style}">seen</p>`)).toBe("seen");
  expect(performance.now() - begun).toBeLessThan(5_000);
});

test.each([
  "<p hidden>",
  "<dialog>",
  '<p class="sr-only">',
  '<p class="visually-hidden">',
  '<p class="visuallyhidden">',
  '<p class="screen-reader-text">',
  '<p class="screen-reader-only">',
])("words in %s are not read", (tag) => {
  expect(left(`<p>seen</p>${tag}unseen`)).toBe("seen");
});

test("what opens by itself or on a search, and a page hidden until its scripts have run, is read", () => {
  expect(left('<p hidden="until-found">a</p><dialog open>b</dialog>')).toBe("ab");
  expect(left("<p>seen</p>", "html, body { visibility: hidden }")).toBe("seen");
});

test("an element that one rule hides and another shows by the same property is read, by another property not", () => {
  const tabs = '<p class="tab on">open</p><p class="tab">shut</p>';
  expect(left(tabs, ".tab { display: none } .on { display: block }")).toBe("open");
  expect(left(tabs, ".on { display: block } .tab { display: none }")).toBe("open");
  expect(left(tabs, ".tab { display: none } .on { opacity: 1 }")).toBe("");
  expect(left('<p class="tab" style="display: block">open</p>', ".tab { display: none }")).toBe("open");
  expect(left(tabs, ".tab { display: none; opacity: 0 } .on { display: block }")).toBe("");
});

test.each<[string, string]>([
  ["@media screen { .x { display: none } }", ""],
  ["@media all { .x { display: none } }", ""],
  ["@media print { .x { display: none } }", "x"],
  ["@media (max-width: 600px) { .x { display: none } }", "x"],
  [".x { display: none } @media (max-width: 600px) { .x { display: block } }", "x"],
  ["@supports (display: grid) { .x { display: none } }", "x"],
  ["@media print { @media screen { .x { display: none } } }", "x"],
  ["@media screen { @media all { .x { display: none } } }", ""],
  ["p:nonsense(3) { display: none } .x { display: none }", ""],
  [`/*${"-".repeat(500_000)}*/ .x { display: none }`, "x"],
  [`/*${"-".repeat(300_000)}*/</style><style>.x { display: none }`, ""],
  [`/*${"-".repeat(300_000)}*/</style><style>/*${"-".repeat(300_000)}*/ .x { display: none }`, "x"],
])("with a style sheet of %# the words that stay are %p", (sheet, expected) => {
  expect(left('<p class="x">x</p>', sheet)).toBe(expected);
});
