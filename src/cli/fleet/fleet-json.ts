import type { FleetDocument } from '../../render/fleet-document.ts';
import { escapeInJson } from '../../render/untrusted.ts';

/** What came of all stacks as JSON. Ends in a line break. */
export function fleetJson(document: FleetDocument): string {
  return `${escapeInJson(JSON.stringify(document, null, 2))}\n`;
}
