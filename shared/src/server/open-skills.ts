import type { Config } from "../config/config.ts";
import type { MoreTools } from "../core/agent.ts";
import { createSkillLibrary, type SkillLibrary } from "../skills/skill-library.ts";
import { type ChosenSkills, withSkills } from "../skills/use-skill.ts";
import type { Shared } from "./storage/open-shared.ts";

/** The skills of a system: those we ship, of its home and beside its settings. */
export function openSkillLibrary(
  { home, projectSkills }: Pick<Config, "home" | "projectSkills">,
  { skillPins }: Pick<Shared, "skillPins">,
): SkillLibrary {
  return createSkillLibrary({ home, project: projectSkills, pins: skillPins });
}

/** An agent's tools that may change, with the skills that its settings choose. */
export function openSkills(
  more: MoreTools,
  chosen: ChosenSkills,
  config: Pick<Config, "home" | "projectSkills">,
  shared: Pick<Shared, "skillPins">,
): MoreTools {
  if (chosen.length === 0) return more;
  return withSkills(more, openSkillLibrary(config, shared), chosen);
}
