import { hasConsequence } from "./consequence.ts";
import { quoted } from "./quoted.ts";
import type { Deed } from "./read-deed.ts";
import { isInScope, type Scope } from "./scope.ts";
import { secretAskedFor } from "./secret-field.ts";

/** An element of a page, and the address of the document it is in; undefined where that has none, such as an empty page. */
export type Place = { readonly deed: Deed; readonly url: URL | undefined; readonly name?: string };

/** What scope is judged by; undefined when it is not judged. */
export type ScopeToJudge = Scope | undefined;

/** A click: on something whose name says that it has consequences, or that sends a form to a host out of scope. */
export function judgeClick({ deed, url, name = "" }: Place, scope: ScopeToJudge): string | undefined {
  const said = [name, ...deed.words].find(hasConsequence);
  if (said !== undefined) return `Click ${quoted(said)} on ${hostOf(url)}`;
  return deed.takesText ? undefined : judgeSending({ deed, url, name }, scope);
}

/** Writing into a field: one for secrets, or any on a host out of scope. Fields that take no text are clicked. */
export function judgeTyping({ deed, url, name = "" }: Place, scope: ScopeToJudge): string | undefined {
  if (!deed.takesText) return undefined;
  const words = [...(name === "" ? [] : [name]), ...deed.words];
  const called = quoted(words[0] ?? deed.names.find((one) => one !== "") ?? "a field");
  const secret = secretAskedFor({ ...deed, words: [...words, ...deed.names] });
  const foreign = isForeign(url, scope);
  if (secret === undefined && !foreign) return undefined;
  const field = secret === undefined ? called : `the ${secret} field ${called}`;
  return `Type into ${field} on ${hostOf(url)}${foreign ? unnamed : ""}`;
}

/** Enter: in a field it presses its form's button, on anything else it is a click. */
export function judgeEnter(place: Place, scope: ScopeToJudge): string | undefined {
  if (!place.deed.takesText) return judgeClick(place, scope);
  const said = place.deed.sends?.button.find(hasConsequence);
  if (said !== undefined) return `Press Enter, which clicks ${quoted(said)} on ${hostOf(place.url)}`;
  return judgeSending(place, scope);
}

/** Words after a host that nobody has vouched for. */
export const unnamed = ", a host you did not name";

/** A form that goes elsewhere than to the page's own host. */
function judgeSending({ deed, url }: Place, scope: ScopeToJudge): string | undefined {
  if (deed.sends === undefined || scope === undefined || url === undefined) return undefined;
  const goal = URL.parse(deed.sends.action, url.href);
  if (goal === null || goal.host === url.host || goal.protocol === "javascript:") return undefined;
  return isForeign(goal, scope) ? `Send a form of ${hostOf(url)} to ${hostOf(goal)}${unnamed}` : undefined;
}

/** Whether an address is out of the scope that is judged. */
export function isForeign(url: URL | undefined, scope: ScopeToJudge): boolean {
  return scope !== undefined && url !== undefined && !isInScope(url, scope);
}

/** A document's host in a sentence. */
export function hostOf(url: URL | undefined): string {
  return url === undefined || url.host === "" ? "an empty page" : url.host;
}
