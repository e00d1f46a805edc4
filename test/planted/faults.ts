import type { Fault } from "./fault.ts";
import { a2aAskFaults } from "./faults/a2a-ask.ts";
import { a2aClientFaults } from "./faults/a2a-client.ts";
import { a2aServerFaults } from "./faults/a2a-server.ts";
import { agentFaults } from "./faults/agent.ts";
import { browserToolsFaults } from "./faults/browser-tools.ts";
import { configFaults } from "./faults/config.ts";
import { dataFaults } from "./faults/data.ts";
import { documentsFaults } from "./faults/documents.ts";
import { durableFaults } from "./faults/durable.ts";
import { durablePostgresFaults } from "./faults/durable-postgres.ts";
import { flowsFaults } from "./faults/flows.ts";
import { gatewayFaults } from "./faults/gateway.ts";
import { gatewayCommandsFaults } from "./faults/gateway-commands.ts";
import { machineFaults } from "./faults/machine.ts";
import { machineBrowserFaults } from "./faults/machine-browser.ts";
import { mcpFaults } from "./faults/mcp.ts";
import { modelsFaults } from "./faults/models.ts";
import { observationFaults } from "./faults/observation.ts";
import { riskFaults } from "./faults/risk.ts";
import { runsFaults } from "./faults/runs.ts";
import { serverFaults } from "./faults/server.ts";
import { workToolsFaults } from "./faults/work-tools.ts";

/**
 * Faults that tests have to find, room by room. To add one: choose it by reading the product, plant
 * it, and if it survives, write the missing test.
 */
export const faults: readonly Fault[] = [
  ...a2aAskFaults,
  ...a2aClientFaults,
  ...a2aServerFaults,
  ...agentFaults,
  ...browserToolsFaults,
  ...configFaults,
  ...dataFaults,
  ...documentsFaults,
  ...durableFaults,
  ...durablePostgresFaults,
  ...flowsFaults,
  ...gatewayFaults,
  ...gatewayCommandsFaults,
  ...machineFaults,
  ...machineBrowserFaults,
  ...mcpFaults,
  ...modelsFaults,
  ...observationFaults,
  ...riskFaults,
  ...runsFaults,
  ...serverFaults,
  ...workToolsFaults,
];
