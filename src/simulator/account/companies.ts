import { nth } from '../fleet.ts';
import { uuidOf } from '../ids.ts';
import type { SeedOrganization } from '../seed.ts';
import { COMPANIES, TIME_ZONES } from './names.ts';
import { numbered } from './numbered.ts';

/** An organization of a generated account, and what its agents have in common. */
export type Company = {
  readonly seed: SeedOrganization;
  readonly language: (typeof COMPANIES)[number]['language'];
  readonly timezone: string;
  readonly canBePaid: boolean;
  readonly hasKnowledge: boolean;
  /** Ids of its cloned voices. */
  readonly voices: readonly string[];
};

const LOCKS = [
  [],
  ['llm.alpha-4o', 'integration.pbxProvider'],
  [],
  ['custom_voices'],
  ['knowledge_base', 'template.translator'],
  [],
  ['phi_redaction'],
];

const MERCHANTS = [
  { status: 'active', charges: true },
  { status: 'active', charges: true },
  { status: 'onboarding', charges: false },
  { status: 'active', charges: true },
  { status: 'not_started', charges: false },
  { status: 'restricted', charges: false },
] as const;

/** Organizations spread over the resellers, and as many as each of them has directly under the account. */
export function companies(
  count: number,
  resellers: readonly { readonly id: string }[],
): readonly Company[] {
  return Array.from({ length: count }, (_, index) => {
    const id = uuidOf(`organization ${index + 1}`);
    const reseller = resellers[index % (resellers.length + 1)];
    const merchant = nth(MERCHANTS, index);
    const name = numbered(
      COMPANIES.map((company) => company.name),
      index,
    );
    const locks = nth(LOCKS, index);
    return {
      seed: {
        id,
        name,
        ...(reseller === undefined ? {} : { reseller_id: reseller.id }),
        locks,
        merchant,
      },
      language: nth(COMPANIES, index).language,
      timezone: nth(TIME_ZONES, index),
      canBePaid: merchant.charges,
      hasKnowledge: index % 3 !== 2,
      voices: index % 2 === 0 ? [uuidOf(`voice of ${id}`)] : [],
    };
  });
}
