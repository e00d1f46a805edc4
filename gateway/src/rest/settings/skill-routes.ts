import { findSkill, type ListedSkill, type SkillLibrary } from "manyhands/internal/skills/skill-library";
import * as z from "zod";
import type { RestEndpoint } from "../endpoint.ts";
import { operatorEndpoint } from "./operator-endpoint.ts";

/** Skills as their operator sees and changes them: those of the machine are read, not added. */
export type SkillSettings = Pick<SkillLibrary, "list" | "approve" | "remove">;

const params = z.object({ name: z.string().min(1).max(64) });
/** Longer files are named, not shown. */
const maxShown = 256 * 1024;

const listedFields = {
  name: z.string(),
  source: z.enum(["shipped", "home", "project"]).describe("With the product, in the home, or beside the settings."),
  path: z.string().describe("Its folder."),
  state: z
    .enum(["shipped", "approved", "new", "changed", "invalid"])
    .describe("Agents use those that are `shipped` or `approved`; `changed` is not what was approved."),
  problem: z.string().exactOptional().describe("Why an invalid one cannot be used."),
  like: z.string().exactOptional().describe("Another skill whose name could be taken for this one's."),
  description: z.string().exactOptional(),
  hash: z.string().exactOptional().describe("Of every path and content in the folder."),
};
const listedSchema = z.object(listedFields).meta({ id: "Skill" });
const shownSchema = z
  .object({
    ...listedFields,
    license: z.string().exactOptional(),
    allowedTools: z.string().exactOptional().describe("Tools that its author names; it allows nothing."),
    instructions: z.string().exactOptional().describe("In Markdown."),
    files: z.array(
      z.object({
        path: z.string(),
        size: z.int(),
        text: z.string().exactOptional().describe("Left out of files that are not text, or long."),
      }),
    ),
  })
  .meta({ id: "ShownSkill", description: "Everything that approving the skill approves." });

const listed = { description: "The skills.", body: z.object({ skills: z.array(listedSchema) }) };

/** `/settings/skills` and the routes below it. */
export function skillRoutes(skills: SkillSettings): RestEndpoint[] {
  return [list(skills), show(skills), approve(skills), remove(skills)];
}

function list(skills: SkillSettings): RestEndpoint {
  const about = {
    method: "get",
    path: "/settings/skills",
    summary: "The skills that were found, and which agents may use",
    description: "They are added with `manyhands skills add`, by someone with an account on the machine.",
    request: {},
    answers: { 200: listed },
    problems: [],
  } as const;
  return operatorEndpoint(about, async (_, c) => c.json({ skills: (await skills.list()).map(listedView) }));
}

function show(skills: SkillSettings): RestEndpoint {
  const about = {
    method: "get",
    path: "/settings/skills/{name}",
    summary: "Everything that approving a skill approves: its instructions and its files",
    request: { params },
    answers: { 200: { description: "The skill.", body: shownSchema } },
    problems: [404],
  } as const;
  return operatorEndpoint(about, async ({ params: { name } }, c) => c.json(shownView(await findSkill(skills, name))));
}

function approve(skills: SkillSettings): RestEndpoint {
  const body = z.strictObject({ hash: z.string().min(1).max(128).describe("Of the skill as it was shown.") });
  const about = {
    method: "post",
    path: "/settings/skills/{name}/approve",
    summary: "Lets agents use a skill as it was shown",
    request: { params, body },
    answers: { 200: listed },
    problems: [404, 409],
  } as const;
  return operatorEndpoint(about, async ({ params: { name }, body: { hash } }, c) => {
    await skills.approve(name, hash);
    return c.json({ skills: (await skills.list()).map(listedView) });
  });
}

function remove(skills: SkillSettings): RestEndpoint {
  const about = {
    method: "delete",
    path: "/settings/skills/{name}",
    summary: "Removes a skill of the home, and its approval",
    request: { params },
    answers: { 204: { description: "Removed; agents stop using it within seconds." } },
    problems: [404],
  } as const;
  return operatorEndpoint(about, async ({ params: { name } }, c) => {
    await skills.remove(name);
    return c.body(null, 204);
  });
}

function listedView({ skill, ...rest }: ListedSkill) {
  return { ...rest, ...(skill && { description: skill.description, hash: skill.hash }) };
}

function shownView(listed: ListedSkill) {
  const { skill } = listed;
  if (skill === undefined) return { ...listedView(listed), files: [] };
  const { license, allowedTools, instructions, files } = skill;
  return {
    ...listedView(listed),
    ...(license !== undefined && { license }),
    ...(allowedTools !== undefined && { allowedTools }),
    instructions,
    files: files.map(({ path, content }) => ({ path, size: content.length, ...textOf(content) })),
  };
}

function textOf(content: Uint8Array): { readonly text?: string } {
  if (content.length > maxShown) return {};
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(content);
    return text.includes("\0") ? {} : { text };
  } catch {
    return {};
  }
}
