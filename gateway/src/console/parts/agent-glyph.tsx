import { Icon, type IconName } from "./icon.tsx";

const known: Readonly<Record<string, IconName>> = {
  manus: "hand",
  browser: "web",
  swe: "branch",
  "data-analysis": "bars",
  dataanalysis: "bars",
};

/** The drawing of an agent or a flow. Agents have drawings, not colours: they come and go. */
export function AgentGlyph({ name, flow = false }: { name: string; flow?: boolean }) {
  return (
    <span class={flow ? "ag flow" : "ag"} title={name}>
      <Icon name={flow ? "flow" : (known[name.toLowerCase()] ?? "agent")} />
    </span>
  );
}
