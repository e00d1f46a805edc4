import { authorizedFetch, type Credentials } from "manyhands/internal/a2a/client/credentials";
import * as z from "zod";
import { fetchServer, readOf } from "../tasks/fetch-server.ts";
import type { Registration } from "./registration-site.ts";

/** What parts of the demo this system can do; the rest is left out of the task, and reported. */
export type Abilities = { readonly runsCode: boolean; readonly operatesPages: boolean };

/** What to enter on the site: the field's name there, its label, the value. */
const details = [
  ["name", "Full name", "Ada Lund"],
  ["email", "E-mail", "ada.lund@orders.example"],
  ["country", "Country", "Norway"],
  ["first", "First pickup", "2026-12-01"],
  ["time", "Time of day", "Afternoon"],
  ["newsletter", "Newsletter", "yes"],
] as const;

const analysis = `Analyse orders.csv: total revenue, orders and average order value per region, the best month, and anything odd in the data. Only completed orders count, each order id once; returns lower the revenue. Check the numbers a second way, and draw the revenue per month as a PNG chart.`;

const repair = `The tests of the Python project in shipping.tar.gz fail. Find the bug, fix it, and show that all tests pass. Do not change the tests.`;

/** The demo's task. */
export function demoTask({ runsCode, operatesPages }: Abilities, site: string): string {
  const list = details.map(([, label, value]) => `   - ${label}: ${value}`).join("\n");
  const registration = `Register for parcel pickup at ${site} and keep a picture of the page that shows the registration number as receipt.png. Enter:\n${list}`;
  const parts = [analysis, ...(runsCode ? [repair] : []), ...(operatesPages ? [registration] : [])];
  const wanted = [
    "the figures",
    "the chart as a picture",
    ...(runsCode ? ["what was wrong in the code"] : []),
    ...(operatesPages ? ["the registration number"] : []),
  ];
  return [
    "Prepare the shop's month-end handover.",
    ...parts.map((part, index) => `${index + 1}. ${part}`),
    `Then write report.md with ${wanted.join(", ")}.`,
  ].join("\n");
}

/** Whether the registration contains exactly what the task says. */
export function isAsTold({ given }: Registration): boolean {
  return Bun.deepEquals(given, Object.fromEntries(details.map(([name, , value]) => [name, value])));
}

const agents = z.object({
  agents: z.array(
    z.looseObject({
      name: z.string(),
      health: z.string().optional(),
      card: z.looseObject({ skills: z.array(z.looseObject({ id: z.string() })).default([]) }).optional(),
    }),
  ),
});

const seenWithinMs = 10_000;
const lookEveryMs = 100;

/**
 * What the agents of a gateway can do here, by their cards, which list only skills that work on
 * this machine. Waits while the gateway, just started, has not looked at all of them, at most ten
 * seconds.
 */
export async function readAbilities(gateway: string, credentials: Credentials | undefined): Promise<Abilities> {
  const through = authorizedFetch(fetch, credentials, gateway);
  const list = async () => {
    const signal = AbortSignal.timeout(10_000);
    const response = await fetchServer(`${gateway}/agents`, { signal }, through);
    return agents.parse(await readOf(response, signal, () => response.json())).agents;
  };
  const until = performance.now() + seenWithinMs;
  let listed = await list();
  while (listed.some(({ health }) => health === "unknown") && performance.now() < until) {
    await Bun.sleep(lookEveryMs);
    listed = await list();
  }
  const offers = (agent: string, skill: string) =>
    listed.some(({ name, card }) => name === agent && card?.skills.some(({ id }) => id === skill));
  return {
    // The project's tests need Python.
    runsCode: offers("swe", "fix-bug") && Bun.which("python3") !== null,
    operatesPages: offers("browser", "operate-pages"),
  };
}
