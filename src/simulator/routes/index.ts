import type { OperationId } from '../../api/operations.generated.ts';
import type { Routes } from '../platform.ts';
import { account } from './account.ts';
import { agents } from './agents.ts';
import { catalogue } from './catalogue.ts';
import { emailTemplates } from './email-templates.ts';
import { history } from './history.ts';
import { knowledge } from './knowledge.ts';
import { payments } from './payments.ts';
import { reports } from './reports.ts';
import { retryPolicies } from './retry-policies.ts';
import { sessions } from './sessions.ts';
import { sip } from './sip.ts';
import { smsTemplates } from './sms-templates.ts';
import { voices } from './voices.ts';

/**
 * How every operation of the contract is answered; one file per area. Method and path come from the
 * operation table. An operation that is new in the contract does not compile until it is answered here.
 */
export const routes: Routes<OperationId> = {
  ...account,
  ...agents,
  ...history,
  ...sip,
  ...payments,
  ...catalogue,
  ...voices,
  ...knowledge,
  ...emailTemplates,
  ...smsTemplates,
  ...retryPolicies,
  ...reports,
  ...sessions,
};
