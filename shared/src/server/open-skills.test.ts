import { expect, spyOn, test } from "bun:test";
import type { MoreTools } from "../core/agent.ts";
import * as libraries from "../skills/skill-library.ts";
import * as uses from "../skills/use-skill.ts";
import { openSkills } from "./open-skills.ts";

test("an agent has the skills that it is given, of the home and beside the settings, as far as they are approved", () => {
  const library = {} as libraries.SkillLibrary;
  const [more, withThem] = [{} as MoreTools, {} as MoreTools];
  using opening = spyOn(libraries, "createSkillLibrary").mockReturnValue(library);
  using offering = spyOn(uses, "withSkills").mockReturnValue(withThem);
  const config = { home: "/home", projectSkills: "/project/skills" };
  const skillPins = {} as Parameters<typeof openSkills>[3]["skillPins"];
  expect(openSkills(more, [], config, { skillPins })).toBe(more);
  expect(opening).not.toHaveBeenCalled();
  for (const chosen of ["all", ["release", "review"]] as const)
    expect(openSkills(more, chosen, config, { skillPins })).toBe(withThem);
  expect(opening.mock.calls[0]).toEqual([{ home: "/home", project: "/project/skills", pins: skillPins }]);
  expect(offering.mock.calls).toEqual([
    [more, library, "all"],
    [more, library, ["release", "review"]],
  ]);
});
