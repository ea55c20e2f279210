"""The adaptive orchestrator: a meta-panel designs the workflow, a panel of different models works,
and a neutral synthesiser concludes."""
