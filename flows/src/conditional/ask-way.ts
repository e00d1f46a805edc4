import type { Flow } from "manyhands/flows";
import { classify } from "./classify.ts";
import type { Choice, Unsure, Way } from "./way.ts";

/** How often the person is asked, when an answer names no way. */
const mostQuestions = 3;

/** Has the person behind the task choose, by number or name; in other words too where the model may say what they mean, with this confidence. */
export async function askWay(
  flow: Flow,
  ways: readonly Way[],
  why: string,
  confidence: number | undefined,
): Promise<Choice | Unsure> {
  const list = ways.map(({ name, when }, index) => `${index + 1}. ${name}${when === "" ? "" : `: ${when}`}`).join("\n");
  const said: string[] = [];
  let fault = "";
  for (let asked = 0; asked < mostQuestions; asked++) {
    const question = `${fault}Which way should this task go? ${why}\n\n${list}\n\nAnswer with a number or a name.`;
    const answer = (await flow.askPerson(question)).trim();
    const way = wayNamed(answer, ways);
    const reason = `The answer was: ${answer.slice(0, 200)}`;
    if (way !== undefined) return { way, by: "person", reason, said };
    if (answer !== "") said.push(answer);
    const meant = confidence === undefined || answer === "" ? undefined : await classify(flow, ways, confidence, said);
    if (meant !== undefined && "way" in meant) return { way: meant.way, by: "person", reason, said };
    fault = `"${answer.slice(0, 100)}" names none of them.\n\n`;
  }
  return { unsure: `${why} No answer named a branch.` };
}

/** The way that an answer means by its number or name. */
function wayNamed(answer: string, ways: readonly Way[]): Way | undefined {
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replaceAll(/[\s_-]+/g, "-")
      .replaceAll(/[.!"']/g, "");
  const number = /^\s*(\d+)\b\W*$/.exec(answer)?.[1];
  return number === undefined ? ways.find(({ name }) => plain(name) === plain(answer)) : ways[Number(number) - 1];
}
