import { agentDefaults } from "manyhands/internal/config/agents";
import { Icon, type IconName } from "./icon.tsx";

/**
 * The drawing of an agent or a flow: an agent that comes with Manyhands has its own. Agents have
 * drawings, not colours: they come and go.
 */
export function AgentGlyph({ name, flow = false }: { name: string; flow?: boolean }) {
  const own: IconName = agentDefaults[name]?.icon ?? "agent";
  return (
    <span class={flow ? "ag flow" : "ag"} title={name}>
      <Icon name={flow ? "flow" : own} />
    </span>
  );
}
