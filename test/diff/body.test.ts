import { describe, expect, test } from 'vitest';
import type { FieldSchema } from '../../src/core/schema.ts';
import { documentInBody, facetBody, facetInBody, requestBody } from '../../src/diff/merge.ts';
import { agent } from '../../src/kinds/agent.ts';

/** A kind with a field of each sort that a body has to tell apart. */
const SCHEMA: FieldSchema = {
  properties: {
    title: { 'x-write': 'displayTitle' },
    owner: { readOnly: true },
    draft: { 'x-local': true },
    clip: { 'x-file': 'audio' },
    target: { 'x-write-with': ['mode'] },
    mode: {},
    options: { 'x-whole': true, properties: { depth: { 'x-write': 'searchDepth' } } },
    servers: { items: { $ref: '#/$defs/server' } },
  },
  $defs: {
    server: { $ref: '#/$defs/named', 'x-destination': 'url' },
    named: {
      properties: {
        id: { readOnly: true, 'x-echo-back': true },
        label: { $ref: '#/$defs/label' },
        status: { readOnly: true },
        calls: { items: { properties: { tool: { 'x-write': 'toolName' } } } },
      },
    },
    label: { 'x-write': 'serverLabel' },
  },
};

const DOCUMENT = {
  title: 'Desk',
  options: { depth: 2 },
  servers: [{ id: 's-1', label: 'Calendar', calls: [{ tool: 'find' }, { tool: 'book' }] }],
};
const BODY = {
  displayTitle: 'Desk',
  options: { depth: 2 },
  servers: [
    { id: 's-1', serverLabel: 'Calendar', calls: [{ toolName: 'find' }, { toolName: 'book' }] },
  ],
};

describe('a request body', () => {
  test('has the names of the platform at every depth, and one leaf as it is', () => {
    expect(requestBody(SCHEMA, DOCUMENT, ['title', 'options', 'servers'])).toEqual(BODY);
  });

  test.each([
    ['a field that the platform owns', { owner: 'harbor' }],
    ['a field that only Callsheet knows', { draft: true }],
    ['a file, whose bytes go another way', { clip: 'sha256:aa' }],
  ])('is without %s', (_what, field) => {
    const document = { title: 'Desk', ...field };
    expect(requestBody(SCHEMA, document, Object.keys(document))).toEqual({ displayTitle: 'Desk' });
  });

  test('is without what the platform owns in an element, save what it knows the element by', () => {
    const servers = [{ id: 's-1', label: 'Calendar', status: 'connected' }];
    expect(requestBody(SCHEMA, { servers }, ['servers'])).toEqual({
      servers: [{ id: 's-1', serverLabel: 'Calendar' }],
    });
  });

  test('brings along the field that another must be written with, and no other', () => {
    const document = { title: 'Desk', mode: 'transfer', target: 'a-2' };
    expect(requestBody(SCHEMA, document, ['target'])).toEqual({ mode: 'transfer', target: 'a-2' });
    expect(requestBody(SCHEMA, document, ['mode'])).toEqual({ mode: 'transfer' });
  });
});

describe('what a request body says', () => {
  test('is the document that it was made from', () => {
    expect(documentInBody(SCHEMA, BODY)).toEqual(DOCUMENT);
  });

  test('has the names of no field as they are', () => {
    const body = { displayTitle: 'Desk', shard: { displayTitle: 7 }, list: [{ tags: ['a'] }] };
    expect(documentInBody(SCHEMA, body)).toEqual({
      title: 'Desk',
      shard: { displayTitle: 7 },
      list: [{ tags: ['a'] }],
    });
  });

  test('leaves what is one leaf alone, whatever names stand in it', () => {
    const body = { options: { searchDepth: 2 } };
    expect(documentInBody(SCHEMA, body)).toEqual(body);
  });

  test.each([
    ['sip', { registration_enabled: true }],
    ['payments', { tool_enabled: true, max_attempts_per_call: 2 }],
  ])('at the endpoint of %s is the value of that facet', (facet, value) => {
    const body = facetBody(agent.schema, facet, value);
    expect(facetInBody(agent.schema, facet, body)).toEqual({ [facet]: value });
  });
});
