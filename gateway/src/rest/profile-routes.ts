import { AppError } from "manyhands/internal/core/errors";
import type { ProfileStore } from "manyhands/internal/machine/browser-profile/profile-store";
import * as z from "zod";
import { endpoint, type RestEndpoint } from "./endpoint.ts";

const profile = z
  .object({
    name: z.string(),
    sites: z.array(z.string()).describe("The hosts it has cookies or storage of."),
    inUse: z.boolean().describe("Whether a conversation browses with it now."),
    savedAt: z.iso.datetime().exactOptional(),
    problem: z.string().exactOptional().describe("Why it cannot be read."),
  })
  .meta({ id: "BrowserProfile", description: "What the browser keeps of your log-ins, without what is in it." });

const params = z.object({ name: z.string().min(1).max(100) });

/** `/browser/profiles`: those of the caller alone. */
export function profileRoutes(profiles: ProfileStore): RestEndpoint[] {
  const listing = {
    method: "get",
    path: "/browser/profiles",
    tag: "browser",
    summary: "Your browser profiles",
    request: {},
    answers: { 200: { description: "The profiles.", body: z.object({ profiles: z.array(profile) }) } },
    problems: [],
  } as const;
  const deletion = {
    method: "delete",
    path: "/browser/profiles/{name}",
    tag: "browser",
    summary: "Deletes a browser profile with all its log-ins",
    description: "A conversation that browses with it loses its pages within seconds.",
    request: { params },
    answers: { 200: { description: "It is deleted.", body: z.object({ deleted: z.literal(true) }) } },
    problems: [404],
  } as const;
  return [
    endpoint(listing, async (_, c) => {
      const all = await profiles.list(c.get("caller").principal);
      const views = all.map(({ savedAt, ...rest }) => ({
        ...rest,
        ...(savedAt !== undefined && { savedAt: new Date(savedAt).toISOString() }),
      }));
      return c.json({ profiles: views });
    }),
    endpoint(deletion, async ({ params: { name } }, c) => {
      if (!(await profiles.remove(c.get("caller").principal, name)))
        throw new AppError("not_found", "There is no such browser profile.");
      return c.json({ deleted: true as const });
    }),
  ];
}
