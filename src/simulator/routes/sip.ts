import { coded, type Refusal } from '../answer.ts';
import { recordFacet } from '../history.ts';
import { isRecord } from '../json.ts';
import type { Platform, Routes } from '../platform.ts';
import { reachedAgent } from '../reach.ts';

/** The registration flag (SIP registration). */
export const sip: Routes<'setSipRegistration'> = {
  setSipRegistration: (input, platform) => {
    const agent = reachedAgent(platform, input);
    if (!agent.supported) throw unsupported(platform);
    const stored = agent.record.sip_registration_data;
    if (!isRecord(stored))
      throw coded(404, 'not_found', 'No SIP registration is configured for this agent');
    const enabled = input.body.registrationEnabled === true;
    const at = platform.stamp();
    const registration = { ...stored, registrationEnabled: enabled };
    agent.record = { ...agent.record, sip_registration_data: registration, updated_at: at };
    platform.store.sipChanges.push({
      agentId: agent.id,
      before: stored.registrationEnabled === true,
      enabled,
      at,
      pickedUpAt: new Date(platform.now().getTime() + platform.dialect.sipLagMs).toISOString(),
    });
    recordFacet(platform, agent);
    return { status: 200, body: { success: true, data: { ...UNTOLD, ...registration } } };
  },
};

/** What a registration is told to have where nothing was stored. */
const UNTOLD = {
  sipDomain: '',
  username: '',
  password: '',
  proxy: '',
  port: 5060,
  transport: 'udp',
  subscribe: false,
  authUsername: null,
  did: null,
  sipRoutingHeaderXDestUser: null,
  extension: null,
};

const CODES = { 400: 'invalid_request', 403: 'forbidden', 409: 'conflict' } as const;

/** How an agent on another provider is rejected is not specified. */
function unsupported({ dialect: { sipForeign } }: Platform): Refusal {
  return coded(sipForeign, CODES[sipForeign], 'The agent is not on the supported provider');
}
