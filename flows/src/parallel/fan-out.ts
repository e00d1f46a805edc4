import type { Flow } from "manyhands/flows";
import type * as z from "zod";
import type { assignment } from "../assignment.ts";
import type { Branch } from "../branch.ts";
import { fillTemplate, wholeGoal } from "../prompt-text.ts";

type Assignment = z.output<z.ZodObject<typeof assignment>>;

/**
 * Which agent is asked what: each agent once unless branches are given, and one branch per item if
 * there are items.
 */
type FanOutOptions = {
  readonly branches?: readonly Assignment[] | undefined;
  readonly items?: readonly string[] | undefined;
  readonly instruction?: string | undefined;
  readonly deadlineMs?: number | undefined;
};

/**
 * The branches of a fan-out, with their texts. Throws for a wrong agent before any branch starts.
 */
export function fanOut(flow: Flow, { branches, items, instruction, deadlineMs }: FanOutOptions): Branch[] {
  const given: readonly Assignment[] = branches ?? flow.agents.map(({ name }) => ({ agent: name }));
  const works = items === undefined ? given.map((each) => ({ each, item: undefined })) : inTurn(items, given);
  const common = instruction ?? (items === undefined ? "{goal}" : "{goal}\n\nYour part of it: {item}");
  return works.map(({ each, item }, index) => {
    const { agent, settings } = each;
    flow.check(agent);
    const number = String(index + 1);
    const values = { goal: wholeGoal(flow), item: item ?? "", number, total: String(works.length), agent };
    const text = fillTemplate(each.instruction ?? common, values);
    const message = { text, parts: flow.files, settings };
    return {
      name: number,
      agent,
      message,
      deadlineMs: each.deadlineMs ?? deadlineMs,
      ...(item !== undefined && { item }),
    };
  });
}

function inTurn<Each>(items: readonly string[], given: readonly Each[]): { each: Each; item: string }[] {
  return items.flatMap((item, index) => {
    const each = given[index % given.length];
    return each === undefined ? [] : [{ each, item }];
  });
}
