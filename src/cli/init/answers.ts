import { isResourceName } from '../../core/address.ts';
import { baseUrlFault } from '../../core/base-url.ts';
import type { Pipeline } from './pipeline-names.ts';

/** Everything that decides what is written. */
export type Answers = {
  /** Undefined: CALLSHEET_BASE_URL says it. */
  readonly baseUrl: string | undefined;
  /** Undefined in a stack without resources. */
  readonly organization: { readonly name: string; readonly id: string } | undefined;
  /** Display name of the first agent; undefined for none. */
  readonly agent: string | undefined;
  readonly ci: Pipeline;
};

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What is wrong with a base address, or undefined. */
export function refuseBaseUrl(text: string): string | undefined {
  const fault = baseUrlFault(text);
  return fault && `${fault.message}. ${fault.hint}`;
}

/** What is wrong with the name of an organization, or undefined. */
export function refuseName(text: string): string | undefined {
  const hint = 'Use letters, digits, _ and -, and begin with a letter';
  return isResourceName(text) ? undefined : hint;
}

/** What is wrong with an id, or undefined. */
export function refuseId(text: string): string | undefined {
  return UUID.test(text) ? undefined : 'It is an id of 36 characters, as the dashboard shows it';
}

/** What is wrong with the name of an agent, or undefined. */
export function refuseAgent(text: string): string | undefined {
  return addressName(text) === '' ? 'Give it a name with letters, such as Front desk' : undefined;
}

/** `front_desk` of `Front desk`: how an agent is called in addresses and file names. */
export function addressName(display: string): string {
  const plain = display.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.replace(/[^a-z0-9]+/g, '_').replace(/^[_0-9]+|_+$/g, '');
}
