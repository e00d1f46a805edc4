import type { Frame, Page } from "playwright";
import { within } from "../../../core/async/within.ts";
import type { PersonInput } from "../../../core/live-page.ts";

const frameMs = 1_000;
/** Longer texts are put in at once, without a press for each character. */
const maxPressed = 200;

/** Marks fields whose values are shown to no model: those that a person typed into, or code. */
const typedMark = "data-manyhands-covered";

/** Does to the page what a person did to its picture. A dialog is not for it. */
export async function performInput(page: Page, input: Exclude<PersonInput, { type: "dialog" }>): Promise<void> {
  switch (input.type) {
    case "pointer": {
      const { act, x, y, button, clicks } = input;
      await page.mouse.move(x, y);
      if (act !== "move") await page.mouse[act]({ button, clickCount: clicks });
      return;
    }
    case "wheel":
      await page.mouse.move(input.x, input.y);
      return page.mouse.wheel(input.dx, input.dy);
    case "text":
      await markField(page);
      return input.text.length <= maxPressed ? page.keyboard.type(input.text) : page.keyboard.insertText(input.text);
    case "key":
      await markField(page);
      return page.keyboard.press(input.key);
    case "back":
      await page.goBack({ waitUntil: "commit" });
  }
}

/** Marks the field that has the focus: in the page, in frames, and in shadow trees. */
async function markField(page: Page): Promise<void> {
  await inFrames(
    page,
    `(() => {
      let element = document.activeElement;
      while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
      if (element?.matches("input, textarea") && document.hasFocus()) element.setAttribute("${typedMark}", "");
    })()`,
  );
}

/** Draws what a person typed into fields as dots, for pictures that are taken of the page later. */
export async function coverTyped(page: Page): Promise<void> {
  await inFrames(
    page,
    `(() => {
      const cover = (root) => {
        for (const one of root.querySelectorAll("*")) {
          if (one.hasAttribute("${typedMark}")) one.style.setProperty("-webkit-text-security", "disc", "important");
          if (one.shadowRoot) cover(one.shadowRoot);
        }
      };
      cover(document);
    })()`,
  );
}

async function inFrames(page: Page, script: string): Promise<void> {
  await Promise.all(page.frames().map((frame: Frame) => within(frameMs, frame.evaluate(script))));
}
