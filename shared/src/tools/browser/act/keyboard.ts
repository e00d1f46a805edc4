import * as z from "zod";
import { AppError, messageOf } from "../../../core/errors.ts";
import type { Tool } from "../../../core/tools/tool.ts";
import { suggests, untilMore } from "../../observation/in-page/settling/wait-for-quiet.ts";
import { judgeForm, judgeInput, judgeKeys } from "../../risk/acts.ts";
import { type BrowserCall, type BrowserDeps, browserTool } from "./browser-tool.ts";
import { ref } from "./input.ts";
import { actMs, explainFailure, perform } from "./perform.ts";
import { evenIfSlow } from "./press.ts";
import { addText, setField, setText } from "./set-field.ts";

const longestText = 100_000;
const suggesting = /^(?:combobox|searchbox)$/;
/** How long a page may take to suggest what fits a text. */
const suggestMs = 900;

/** The keyboard: `browser_input_text`, `browser_fill_form`, `browser_send_keys`. */
export function keyboardTools(deps: BrowserDeps): Tool[] {
  return [
    browserTool(deps, {
      name: "browser_input_text",
      description: "Replaces the content of a text field.",
      input: z.strictObject({
        ref: ref,
        text: z.string().max(longestText),
        clear: z.boolean().default(true).describe("false: appends."),
        submit: z.boolean().default(false).describe("Presses Enter after it."),
      }),
      reach: { writes: ({ text }) => text },
      judge: judgeInput,
      setsPart: ({ submit }) => !submit,
      run: ({ ref, text, clear, submit }, call) =>
        perform(
          call,
          { refs: [ref], timeoutMs: actMs + text.length * 5, watched: false },
          async (_, [element], say) => {
            if (element === undefined) return;
            say(`Wrote into ${element.label}${submit ? " and pressed Enter" : ""}.`);
            if (clear) say(`Wrote into ${await setText(element, text)}${submit ? ", and pressed Enter" : ""}.`);
            else await addText(element, text);
            if (submit) await evenIfSlow(element.handle.press("Enter", { timeout: actMs }));
            else if (suggesting.test(element.seen.role) || (await element.handle.evaluate(suggests)))
              await element.handle.evaluate(untilMore, suggestMs);
          },
        ),
    }),
    browserTool(deps, {
      name: "browser_fill_form",
      description: "Sets several fields at once: texts, dropdowns (an entry's text), checkboxes (true or false).",
      input: z.strictObject({
        fields: z
          .array(z.strictObject({ ref: ref, value: z.union([z.string().max(longestText), z.boolean()]) }))
          .min(1)
          .max(50),
      }),
      reach: { writes: ({ fields }) => fields.map(({ value }) => String(value)).join("\n") },
      judge: judgeForm,
      setsPart: () => true,
      run: ({ fields }, call) => fillForm(call, fields),
    }),
    browserTool(deps, {
      name: "browser_send_keys",
      description: 'Presses keys at the focus: "Enter", "Control+a", "Tab Tab Enter".',
      input: z.strictObject({ keys: z.string().trim().min(1).max(500) }),
      judge: judgeKeys,
      run: ({ keys }, call) =>
        perform(call, {}, async (page, _, say) => {
          const chords = keys.split(/\s+/);
          for (const [index, chord] of chords.entries()) {
            say(`Pressed ${chords.slice(0, index + 1).join(" ")}.`);
            await page.keyboard.press(chordOf(chord)).catch((error: unknown) => {
              throw unknownKey(error, chord);
            });
          }
        }),
    }),
  ];
}

function fillForm(
  call: BrowserCall,
  fields: readonly { readonly ref: string; readonly value: string | boolean }[],
): Promise<string> {
  const done: string[] = [];
  const refs = fields.map(({ ref }) => ref);
  return perform(call, { refs, timeoutMs: actMs * fields.length, watched: false }, async (_, elements, say) => {
    for (const [index, { value }] of fields.entries()) {
      const element = elements[index];
      if (element === undefined) continue;
      // A dialog may open before the field is set.
      const left = index + 1 < fields.length ? ", and the fields after it were left" : "";
      say(
        [...(done.length === 0 ? [] : [`Set ${done.join("; ")}.`]), `${element.label} was being set${left}.`].join(" "),
      );
      try {
        done.push(await setField(element, value));
      } catch (error) {
        if (done.length === 0) throw error;
        const explained = await explainFailure(error, [element]);
        const reason = messageOf(explained);
        throw new AppError(
          "conflict",
          `Set ${done.join("; ")}. Then ${element.label} failed, and the fields after it were left: ${reason}`,
          { cause: error },
        );
      }
      say(`Set ${done.join("; ")}.`);
    }
  });
}

const shortNames: Readonly<Record<string, string>> = {
  ctrl: "Control",
  cmd: "Meta",
  esc: "Escape",
  return: "Enter",
  del: "Delete",
  up: "ArrowUp",
  down: "ArrowDown",
  left: "ArrowLeft",
  right: "ArrowRight",
  pgup: "PageUp",
  pgdn: "PageDown",
  spacebar: "Space",
};

/** Translates the names people use for keys to Playwright's. */
function chordOf(chord: string): string {
  return chord
    .split(/\+(?=.)/)
    .map((key) => shortNames[key.toLowerCase()] ?? key)
    .join("+");
}

function unknownKey(error: unknown, chord: string): unknown {
  if (!(error instanceof Error) || !/Unknown key/.test(error.message)) return error;
  const message = `There is no key ${JSON.stringify(chord)}. Keys are Enter, Tab, Escape, Backspace, Delete, ArrowDown, PageDown, Home, End, F1, a, A, Control+a. To write a text use browser_input_text.`;
  return new AppError("invalid_input", message, { cause: error });
}
