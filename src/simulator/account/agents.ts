import type { JsonObject } from '../../core/value.ts';
import { DAY, DAYS_OF_CALLS } from '../calls/calendar.ts';
import { generateAgent, nth, ROLES } from '../fleet.ts';
import { uuidOf } from '../ids.ts';
import type { SeedAgent, SeedEdit } from '../seed.ts';
import { siteOf } from './belongings.ts';
import type { Company } from './companies.ts';
import { PEOPLE } from './names.ts';

/** One deleted agent for so many that are there, and one in any case. */
const AGENTS_PER_DELETED = 200;

/** Agents of an account, in turns over its organizations, and a few that are gone but had calls. */
export function accountAgents(
  count: number,
  owners: readonly Company[],
  policies: readonly string[],
  accountId: string,
  now: number,
): readonly SeedAgent[] {
  if (count === 0 || owners.length === 0) return [];
  const agent = (index: number): SeedAgent => {
    // Every organization has agents of every role.
    const role = nth(ROLES, index + Math.floor(index / owners.length));
    const owner = nth(owners, index);
    const base = generateAgent(index, owner.seed, role, nth(policies, index));
    const made = now - (DAYS_OF_CALLS + 30 + (index % 300)) * DAY;
    return {
      ...base,
      ...manners(base, owner, index),
      ...belongings(base, owner, index),
      created_at: new Date(made).toISOString(),
      updated_at: new Date(made).toISOString(),
      edits: edits(base, index, made, accountId),
    };
  };
  const deleted = Math.ceil(count / AGENTS_PER_DELETED);
  return [
    ...Array.from({ length: count }, (_, index) => agent(index)),
    ...Array.from({ length: deleted }, (_, index) => ({
      ...agent(count + index),
      id: uuidOf(`deleted agent ${index + 1}`),
      name: `Seasonal line ${index + 1}`,
      deleted: true,
    })),
  ];
}

function statusOf(index: number): string {
  if (index % 19 === 7) return 'inactive';
  if (index % 31 === 11) return 'pending';
  return index % 47 === 23 ? 'cancelled' : 'active';
}

/** How an agent speaks, and whether it does. */
function manners({ agent_type: type, config }: SeedAgent, owner: Company, index: number) {
  const { seed, timezone, voices } = owner;
  const language = type === 'translator' || index % 9 === 8 ? 'multi' : owner.language;
  const [voice] = voices;
  const isRecorded = index % 6 !== 4;
  return {
    status: statusOf(index),
    language,
    timezone,
    ...(language === 'es-US'
      ? { greeting_message: `Gracias por llamar a ${seed.name}, ¿en qué puedo ayudarle?` }
      : {}),
    ...(voice !== undefined && index % 4 === 0
      ? { voice_settings: { voice_id: voice, speed: 1 } }
      : {}),
    config: { ...Object(config), enable_recording: isRecorded, user_timezone: timezone },
    enable_recording: isRecorded,
  };
}

/** What only some agents have: links, a payment tool, the PBX provider. */
function belongings(
  { agent_type: type, integrations }: SeedAgent,
  owner: Company,
  index: number,
): JsonObject {
  const takesPayments = owner.canBePaid && integrations !== undefined && type === 'receptionist';
  return {
    ...(owner.hasKnowledge && index % 2 === 0
      ? { knowledgebase_links: [`${siteOf(owner)}/faq`] }
      : {}),
    ...(takesPayments
      ? { payments: { enabled: true, max_single_charge_cents: 20_000, max_attempts_per_call: 2 } }
      : {}),
    ...(index % 10 === 5
      ? {
          integrations: {
            ...Object(integrations),
            pbxProvider: { client_id: `pbx-${index}`, client_secret: `pbx-secret-${index}` },
          },
        }
      : {}),
  };
}

/** Every third agent was changed since: by people in the dashboard and by the account's key. */
function edits(
  { name }: SeedAgent,
  index: number,
  made: number,
  accountId: string,
): readonly SeedEdit[] {
  if (index % 3 !== 0) return [];
  const at = (day: number) => new Date(made + day * DAY).toISOString();
  const api = { actor: `api:${accountId}`, source: 'dashboard-api' };
  const all: readonly SeedEdit[] = [
    { actor: nth(PEOPLE, index), at: at(3), changes: { description: `${name}, reviewed.` } },
    { ...api, at: at(10), changes: { voice_settings: { speed: 1.05 } } },
    { actor: nth(PEOPLE, index + 1), at: at(45), changes: { transfer_enabled: true } },
  ];
  return all.slice(0, 1 + (index % 4));
}
