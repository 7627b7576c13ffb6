"""The compiled inner loops of the deep agents: whole episodes, and recurrent layers swept over them.

A network's weights change once per episode, and what it sees is the number of a cell. So an episode is played in one
call, and the input layer is a row of its weights. Each loop has its twin in PyTorch, in the tests.
"""
