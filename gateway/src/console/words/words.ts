import { signal } from "@preact/signals";
import { english } from "./words-en.ts";
import { chinese } from "./words-zh.ts";

/** Every text of the console, in one language. */
export type Words = typeof english;

/** The languages of the console, each by its own name. */
export const languages = { en: "English", "zh-CN": "中文" } as const;

/** A language of the console. */
export type ConsoleLanguage = keyof typeof languages;

type Tables = Readonly<Record<ConsoleLanguage, Words>>;

const tables: Tables = { en: english, "zh-CN": chinese };
const guestTables: Tables = { en: forGuests(english), "zh-CN": forGuests(chinese) };
let shown = tables;

const key = "manyhands-language";

/** The language that is shown: the chosen one, or the browser's if it is here. */
export const language = signal<ConsoleLanguage>(initial());

function initial(): ConsoleLanguage {
  const wanted = [localStorage.getItem(key), ...navigator.languages];
  const codes = Object.keys(languages) as ConsoleLanguage[];
  const found = wanted.flatMap((one) => codes.filter((code) => one?.split("-")[0] === code.split("-")[0]));
  return found[0] ?? "en";
}

/** Chooses a language and remembers it. */
export function chooseLanguage(chosen: ConsoleLanguage): void {
  language.value = chosen;
  localStorage.setItem(key, chosen);
}

/** From now on whoever reads is a guest, whom no run waits for. */
export function speakToGuests(): void {
  shown = guestTables;
}

/** The texts in the language that is shown; a component that calls this follows a change of it. */
export function words(): Words {
  return shown[language.value];
}

function forGuests(table: Words): Words {
  const waits = table.find.waitsForAnswer;
  return { ...table, waitingForYou: waits, states: { ...table.states, "input-required": waits } };
}
