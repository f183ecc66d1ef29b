/* models.c - parts of models: terms. */
#include "engine/glossary/glossary.h"

const struct glossary_word glossary_models[] = {
	{ WORD_TERM, "mixture of experts", "MoE",
	  "A model whose [layers] contain many alternative networks, of which "
	  "each [token] uses only a few.",
	  "It knows more for the same computing, but the machine must hold all of "
	  "it and send tokens around." },
	{ WORD_TERM, "expert", NULL,
	  "One of the alternatives in an [MoE] [layer]: a small network that gets only "
	  "the [tokens] sent to it.",
	  "Many of them take a lot of memory but do little work each." },
	{ WORD_TERM, "router", "gating",
	  "The small part of a [mixture of experts] that decides which [experts] a "
	  "[token] goes to.",
	  "If it prefers some experts, their ranks work longer and all others "
	  "wait." },
	{ WORD_TERM, "token dispatcher", "dispatcher",
	  "How [tokens] travel to the [experts] they are sent to, and back.",
	  "Good ones send a token once to a far node and fan out there." },
	{ WORD_TERM, "capacity factor", "capacity",
	  "The most [tokens] an [expert] accepts, relative to an even share.",
	  "A small one limits waiting and memory but drops tokens; without one, "
	  "all are kept." },
	{ WORD_TERM, "grouped-query attention", "GQA,multi-query attention",
	  "[Attention] in which several heads share the same keys and values, so "
	  "that less has to be stored.",
	  "It makes what a server remembers of each text several times smaller." },
	{ WORD_TERM, "multi-head latent attention", "MLA",
	  "[Attention] that stores a short summary of each [token] instead of the "
	  "keys and values of every head.",
	  "A server has room for many more requests, for a little more computing." },
	{ WORD_TERM, "multi-token prediction", "MTP",
	  "Extra [layers] that learn to predict not only the next [token] but "
	  "also those after it.",
	  "They make training heavier, and let a server guess ahead." },
	{ WORD_TERM, "active parameters", NULL,
	  "The [weights] that one [token] actually uses: in a [mixture of "
	  "experts] a small share of all.",
	  "They decide how much is computed; the total decides how much must be "
	  "stored." },
	{ WORD_TERM, "attention head", "head",
	  "One of the parallel parts of [attention], each looking for something else.",
	  "Their number limits how many ways matrices can be cut." },
	{ WORD_TERM, "normalization", "norm",
	  "A small piece of work between [matrix products] that keeps numbers in a "
	  "good range.",
	  "It computes little but reads and writes much, so it is worth fusing and "
	  "sharing out." },
	{ WORD_TERM, "state-space layer", "Mamba,SSM",
	  "A [layer] that carries a fixed summary along a text instead of looking back "
	  "at all of it.",
	  "Its work grows only as fast as the text, and its memory not at all." },
	{ 0 },
};
