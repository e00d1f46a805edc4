import type { Config } from "../config/config.ts";
import type { MoreTools } from "../core/agent.ts";
import { AppError } from "../core/errors.ts";
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

/** Throws `config_invalid` if an agent's settings name a skill that does not exist. */
export async function checkSkills(
  agent: string,
  chosen: ChosenSkills,
  config: Pick<Config, "home" | "projectSkills">,
  shared: Pick<Shared, "skillPins">,
): Promise<void> {
  if (chosen === "all" || chosen.length === 0) return;
  const names = (await openSkillLibrary(config, shared).list()).map(({ name }) => name);
  const unknown = chosen.find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw new AppError(
    "config_invalid",
    `[agents.${agent}] skills names ${JSON.stringify(unknown)}, but the skills are: ${names.join(", ")}.`,
  );
}
