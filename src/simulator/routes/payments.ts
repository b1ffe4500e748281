import type { JsonObject } from '../../core/value.ts';
import { type Answer, data, flat } from '../answer.ts';
import { recordFacet } from '../history.ts';
import { isRecord } from '../json.ts';
import { organizationLocks } from '../locks.ts';
import type { Platform, Routes } from '../platform.ts';
import { organizationOf, reachedAgent, refuseForeign } from '../reach.ts';
import type { Agent } from '../store.ts';
import { invalid, violation } from '../violations.ts';
import { updated } from '../written.ts';

/** What applies to a payment tool that was told nothing. The specification gives no figures. */
const DEFAULTS = {
  success_url: 'https://pay.example.test/thank-you',
  max_single_charge_cents: 50_000,
  max_per_call_cents: 100_000,
  max_attempts_per_call: 3,
};

/** Taking payments during calls (Payment readiness). */
export const payments: Routes<'getPaymentReadiness' | 'setPaymentTool'> = {
  getPaymentReadiness: (input, platform) => {
    const agent = reachedAgent(platform, input, () => flat(404, 'Agent not found'));
    const organization = organizationOf(platform, agent.organizationId);
    if (input.query.refresh === true) organization.knownMerchant = { ...organization.merchant };
    return told(platform, agent);
  },

  setPaymentTool: (input, platform) => {
    const agent = reachedAgent(platform, input, () => flat(404, 'Agent not found'));
    refuseForeign(agent);
    const { enabled: wanted, ...given } = input.body;
    const enabled = typeof wanted === 'boolean' ? wanted : agent.payments.enabled;
    if (enabled && !agent.payments.enabled) refuseArming(readiness(platform, agent));
    const limits = Object.entries(given).filter(([name]) => name in DEFAULTS);
    agent.payments = {
      enabled,
      limits: { ...agent.payments.limits, ...Object.fromEntries(limits) },
    };
    recordFacet(platform, agent);
    return updated(platform.dialect, told(platform, agent));
  },
};

function told(platform: Platform, agent: Agent): Answer {
  const body = readiness(platform, agent);
  return platform.dialect.readiness === 'bare' ? { status: 200, body } : data(body);
}

/** Arming needs all of `can_enable`; disarming, and keeping what is armed, needs nothing. */
function refuseArming({ feature_locked: locked, can_enable: ready }: JsonObject): void {
  if (locked === true) throw flat(403, 'Forbidden');
  if (ready !== true)
    throw invalid('details', [violation('enabled', 'the agent cannot take payments yet')]);
}

function readiness(platform: Platform, agent: Agent): JsonObject {
  const organization = organizationOf(platform, agent.organizationId);
  const { knownMerchant: merchant } = organization;
  const locked = organizationLocks(platform, organization).has('card_payments');
  const accepts = merchant.status === 'active' && merchant.charges;
  const texts = sendsTexts(agent.record);
  return {
    agent_id: agent.id,
    can_enable: accepts && texts && !locked,
    feature_locked: locked,
    can_accept_payments: accepts,
    account_status: merchant.status,
    charges_enabled: merchant.charges,
    twilio_configured: texts,
    payment_tool_enabled: agent.payments.enabled,
    ...DEFAULTS,
    ...(agent.payments.enabled ? agent.payments.limits : {}),
  };
}

/** Whether the agent has all that sending a payment link takes. */
function sendsTexts({ integrations }: JsonObject): boolean {
  const sms = isRecord(integrations) ? integrations.smsProvider : undefined;
  if (!isRecord(sms)) return false;
  const has = (...names: readonly string[]) => names.every((name) => Boolean(sms[name]));
  return (
    has('account_sid', 'fromNumber') && (has('auth_token') || has('api_key_sid', 'api_key_secret'))
  );
}
