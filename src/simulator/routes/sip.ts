import { coded } from '../answer.ts';
import { isRecord } from '../json.ts';
import type { Routes } from '../platform.ts';
import { writableAgent } from '../reach.ts';

/** The registration flag (SIP registration). */
export const sip: Routes<'setSipRegistration'> = {
  setSipRegistration: (input, platform) => {
    const agent = writableAgent(platform, input);
    const stored = agent.record.sip_registration_data;
    if (!isRecord(stored))
      throw coded(404, 'not_found', 'No SIP registration is configured for this agent');
    const enabled = input.body.registrationEnabled === true;
    const at = platform.stamp();
    const registration = { ...stored, registrationEnabled: enabled };
    agent.record = { ...agent.record, sip_registration_data: registration, updated_at: at };
    platform.store.sipChanges.push({ agentId: agent.id, enabled, at, pickedUpAt: null });
    const absent = {
      authUsername: null,
      did: null,
      sipRoutingHeaderXDestUser: null,
      extension: null,
    };
    return { status: 200, body: { success: true, data: { ...absent, ...registration } } };
  },
};
