"""A scripted model endpoint: four public model APIs over HTTP, answered from a script instead of by a model.

script.py     the script file: its steps, read and validated
asked.py      a request in words common to all APIs
player.py     which step of the script answers a request
tools.py      how a step becomes a call of whatever shell tool the request offers
protocols.py  agents that read commands out of the text instead (terminus-2, mini-swe-agent)
reply.py      an answer in words common to all APIs, and its token figures
api.py        what an API is to the server
anthropic.py, responses.py, chat.py, gemini.py    the four; openai.py what two of them share
routes.py     which paths there are
sending.py    answers and faults as bytes
server.py     the HTTP server; journal.py its log
"""
